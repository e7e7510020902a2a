import { css } from "lit";

/** The look of `<sandbox-console>`. */
export const consoleStyles = css`
  :host {
    display: block;
    min-width: 0;
    min-height: 0;
  }
  .layout {
    display: flex;
    flex-direction: column;
    height: 100%;
    min-height: 0;
  }
  .view {
    flex: 1;
    min-height: 0;
    min-width: 0;
  }
  .panel {
    display: flex;
    min-height: 0;
    background: var(--sb-surface);
  }
  .wide .panel {
    flex: none;
    height: var(--panel);
  }
  .narrow .panel {
    flex: 1;
  }
  .narrow .bar {
    order: -1;
    border-top: 0;
  }
  .splitter {
    position: relative;
    z-index: 1;
    flex: none;
    height: 7px;
    margin: -3px 0;
    cursor: row-resize;
    touch-action: none;
  }
  .splitter::after {
    content: "";
    position: absolute;
    inset: 3px 0;
    background: var(--sb-border);
  }
  .splitter:hover::after,
  .splitter:focus-visible::after {
    inset: 2px 0;
    background: var(--sb-accent);
  }
  .bar {
    display: flex;
    align-items: center;
    flex: none;
    gap: 4px;
    height: 36px;
    padding-inline: 6px;
    border-bottom: 1px solid var(--sb-border);
    background: var(--sb-bg);
  }
  .tabs {
    display: flex;
    align-self: stretch;
    min-width: 0;
    overflow: auto hidden;
    scrollbar-width: none;
  }
  .tab {
    display: flex;
    align-items: center;
    gap: 6px;
    flex: none;
    padding: 0 10px;
    border: 0;
    border-bottom: 2px solid transparent;
    background: none;
    color: var(--sb-muted);
    white-space: nowrap;
    cursor: pointer;
  }
  .tab:hover {
    color: var(--sb-text);
  }
  .tab[aria-selected="true"] {
    border-bottom-color: var(--sb-accent);
    color: var(--sb-text);
  }
  .tab svg.icon {
    width: 14px;
    height: 14px;
  }
  .close {
    display: grid;
    place-items: center;
    width: 18px;
    height: 18px;
    margin-inline-end: -4px;
    border-radius: 4px;
    opacity: 0.6;
  }
  .close:hover {
    background: var(--sb-hover);
    opacity: 1;
  }
  .close svg.icon {
    width: 12px;
    height: 12px;
  }
  @media (pointer: coarse) {
    .bar {
      height: 44px;
    }
  }
`;
