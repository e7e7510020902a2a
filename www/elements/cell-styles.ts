import { css, unsafeCSS } from "lit";

/** How high what a cell prints may be before it scrolls, in px. */
export const TALL = 520;
/** The same where results are among it: a figure of the usual size and a short table do not scroll. */
export const TALL_WITH_RESULTS = 720;

/** The look of `<sandbox-cell>`. */
export const cellStyles = css`
  :host {
    display: block;
  }
  .cell {
    border: 1px solid var(--sb-border);
    border-radius: 8px;
    background: var(--sb-surface);
  }
  .cell:focus-within {
    border-color: color-mix(in srgb, var(--sb-accent) 60%, transparent);
  }
  .head {
    display: flex;
    align-items: center;
    gap: 4px;
    height: 32px;
    padding-inline: 4px;
    color: var(--sb-muted);
    font-size: 12px;
    font-variant-numeric: tabular-nums;
  }
  .head .run {
    color: var(--sb-accent);
  }
  .count {
    min-width: 30px;
    font-family: var(--sb-mono);
  }
  .state {
    display: flex;
    flex: 1;
    align-items: center;
    gap: 6px;
    min-width: 0;
    overflow: hidden;
    white-space: nowrap;
  }
  .state.failed {
    color: var(--sb-danger);
  }
  .code,
  .plain {
    border-top: 1px solid var(--sb-border);
    background: light-dark(#fafbfc, #101115);
  }
  .plain {
    min-height: 35px;
    margin: 0;
    padding: 7px 10px;
    overflow: auto;
    font: 12.5px / 20px var(--sb-mono);
  }
  .code:last-child,
  .plain:last-child {
    border-radius: 0 0 7px 7px;
  }
  .read {
    padding: 8px 12px;
    border-top: 1px solid var(--sb-border);
    cursor: text;
  }
  .outputs {
    position: relative;
    border-top: 1px solid var(--sb-border);
  }
  .scroll {
    max-height: ${unsafeCSS(TALL)}px;
    overflow: auto;
    overflow-anchor: none;
  }
  .results .scroll {
    max-height: ${unsafeCSS(TALL_WITH_RESULTS)}px;
  }
  .all .scroll {
    max-height: none;
  }
  .content {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 8px;
    padding: 8px 12px;
  }
  .raised {
    padding: 6px 10px;
    border-inline-start: 3px solid var(--sb-danger);
    background: var(--sb-danger-bg);
  }
  .toggle {
    width: 100%;
    padding: 3px;
    border: 0;
    border-top: 1px solid var(--sb-border);
    background: none;
    color: var(--sb-accent);
    font-size: 12px;
    cursor: pointer;
  }
  .toggle:hover {
    background: var(--sb-hover);
  }
  sandbox-error {
    margin: 8px;
  }
  @media (pointer: coarse) {
    .head {
      height: 40px;
    }
  }
`;
