/** What HTML results look like that bring no style of their own. It goes into the frame, which knows nothing of the page's colours. */
export const FRAME_STYLE = `
html { color-scheme: light; overflow: auto; background: transparent; }
body { margin: 0; padding: 1px; color: light-dark(#1a1c22, #e5e7ec);
  font: 13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
a { color: light-dark(#4350c8, #98a2fb); }
table { border-collapse: collapse; font-size: 12px; overflow-wrap: normal; }
th, td { padding: 3px 9px; text-align: right; border: 0; white-space: nowrap; }
thead { border-bottom: 1px solid light-dark(#cdd1d9, #3a3d47); }
tbody tr:nth-child(even) { background: light-dark(#f7f8fa, #1b1d22); }
img, svg, canvas, video { max-width: 100%; }
pre { overflow: auto; }
`;
