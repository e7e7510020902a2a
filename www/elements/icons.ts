import { html, type TemplateResult } from "lit";

const PATHS = {
  add: "M12 5v14M5 12h14",
  back: "M15 6l-6 6 6 6",
  bell: "M12 4a5 5 0 0 0-5 5v4l-2 3h14l-2-3V9a5 5 0 0 0-5-5zM10 19a2 2 0 0 0 4 0",
  chevron: "M9 6l6 6-6 6",
  close: "M6 6l12 12M18 6L6 18",
  command: "M13 5l-8 8h6l-1 6 8-8h-6z",
  copy: "M9 9h10v10H9zM5 15V5h10",
  down: "M12 5v13m-5-5 5 5 5-5",
  download: "M12 4v11m-4-4 4 4 4-4M5 19h14",
  error: "M12 8v5m0 3h.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  eye: "M2.500 12c2.500-4.500 6-6.500 9.500-6.500s7 2 9.500 6.500c-2.500 4.500-6 6.500-9.500 6.500s-7-2-9.500-6.500zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  files: "M4 6h5l2 2h9v11H4z",
  folder: "M4 6h5l2 2h9v11H4z",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01",
  link: "M10 14l9-9m0 0h-6m6 0v6M18 14v5H5V6h5",
  menu: "M4 7h16M4 12h16M4 17h16",
  maximize: "M9 4H4v5M15 20h5v-5M4 4l6 6M20 20l-6-6",
  moreActions: "M5 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM19 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2z",
  fork: "M7 4v5a3 3 0 0 0 3 3h4a3 3 0 0 1 3 3v5M7 4v16M4 17l3 3 3-3M14 17l3 3 3-3",
  keyboard: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M7 14h10",
  metrics: "M4 19V5M4 19h16M8 15l3-4 3 2 5-6",
  moon: "M19 14.5A8 8 0 0 1 9.5 5a7.5 7.5 0 1 0 9.500 9.500z",
  move: "M4 6h5l2 2h9v11H4zM9 13.500h6m-2.500-2.500 2.500 2.500-2.500 2.500",
  newFile: "M7 3h7l4 4v4M14 3v4h4M7 3v18h5M17 14v7M13.500 17.500h7",
  newFolder: "M4 19V6h5l2 2h9v4M4 19h8M17 14v7M13.500 17.500h7",
  notebook: "M6 3h12v18H6zM3 8h3M3 12h3M3 16h3M10 8h5M10 12h5",
  other: "M12 4l7 4v8l-7 4-7-4V8z",
  more: "M5.500 12h.700M11.700 12h.700M17.900 12h.700",
  pause: "M9 6v12M15 6v12",
  power: "M12 4v8M7 7a7 7 0 1 0 10 0",
  restore: "M9 4v5H4M15 20v-5h5M4 4l5 5M20 20l-5-5",
  rename: "M4 20l1-4L16 5l3 3L8 19z",
  refresh: "M19 6v5h-5M5 18v-5h5M18.500 11A7 7 0 0 0 6 8.500M5.500 13A7 7 0 0 0 18 15.500",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.500 4.500",
  snapshot: "M4 8h4l1.500-3h5L16 8h4v11H4zM12 10a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7z",
  run: "M8 5l11 7-11 7z",
  runAll: "M4 5l8 7-8 7zM13 5l8 7-8 7z",
  save: "M5 5h11l3 3v11H5zM8 5v5h7V5M8 19v-5h8v5",
  split: "M4 5h16v14H4zM12 5v14",
  stop: "M7 7h10v10H7z",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM9 15a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v2M12 19v2M3 12h2M19 12h2M5.600 5.600 7 7M17 17l1.400 1.400M18.400 5.600 17 7M7 17l-1.400 1.400",
  terminal: "M5 8l4 4-4 4M11 16h8",
  time: "M12 7v5l3 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  up: "M12 19V6m-5 5 5-5 5 5",
  upload: "M12 20V9m-4 4 4-4 4 4M5 5h14",
  warning: "M12 4 2.500 20h19zM12 10v4m0 3h.01",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

/** An icon, drawn in the text's colour. It says nothing to screen readers: whatever holds it needs a label. */
export function icon(name: IconName): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d=${PATHS[name]}></path></svg>`;
}
