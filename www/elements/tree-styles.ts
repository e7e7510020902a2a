import { css } from "lit";

/** The look of `<sandbox-tree>`. */
export const treeStyles = css`
  :host {
    display: block;
    min-height: 0;
    overflow: auto;
  }
  .tree {
    min-height: 100%;
    padding: 4px 0 24px;
  }
  /* In sight however long the tree is and wherever in it the folder. */
  .errors {
    position: sticky;
    top: 0;
    z-index: 1;
    background: var(--sb-surface);
  }
  .row {
    display: flex;
    align-items: center;
    gap: 5px;
    height: 26px;
    padding-inline: 6px 4px;
    cursor: pointer;
    user-select: none;
  }
  .row:hover {
    background: var(--sb-hover);
  }
  .row[aria-selected="true"] {
    background: var(--sb-selected);
  }
  .row:focus-visible {
    outline-offset: -2px;
  }
  .target {
    background: var(--sb-selected);
    box-shadow: inset 0 0 0 1px var(--sb-accent);
  }
  .twist {
    display: grid;
    place-items: center;
    width: 14px;
    color: var(--sb-muted);
  }
  .twist svg.icon {
    width: 12px;
    height: 12px;
    transition: transform 0.1s;
  }
  [aria-expanded="true"] .twist svg.icon {
    transform: rotate(90deg);
  }
  .kind {
    color: var(--sb-muted);
  }
  .directory .kind {
    color: var(--sb-accent);
  }
  .name {
    flex: 1;
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: pre;
  }
  .hidden-file .name {
    color: var(--sb-muted);
  }
  .link {
    color: var(--sb-muted);
    font-style: normal;
  }
  .size {
    color: var(--sb-muted);
    font-size: 11px;
    font-variant-numeric: tabular-nums;
  }
  .more {
    display: none;
    width: 22px;
    height: 22px;
  }
  .row:hover .more,
  .row:focus .more,
  .row[aria-selected="true"] .more {
    display: inline-grid;
  }
  .row:hover .size,
  .row:focus .size,
  .row[aria-selected="true"] .size {
    display: none;
  }
  .note {
    padding: 3px 8px;
    color: var(--sb-muted);
    font-size: 12px;
  }
  .note button {
    border: 0;
    padding: 2px 6px;
    background: none;
    color: var(--sb-accent);
    cursor: pointer;
  }
  sandbox-error {
    margin: 4px 8px;
  }
  .menu {
    position: fixed;
    inset: auto;
    min-width: 168px;
    margin: 0;
    padding: 4px;
    border: 1px solid var(--sb-border);
    border-radius: 8px;
    background: var(--sb-raised);
    color: var(--sb-text);
    box-shadow: var(--sb-shadow);
  }
  .menu button {
    display: flex;
    align-items: center;
    gap: 8px;
    width: 100%;
    min-height: 28px;
    padding: 2px 10px;
    border: 0;
    border-radius: 5px;
    background: none;
    text-align: start;
    cursor: pointer;
  }
  .menu button:hover,
  .menu button:focus {
    background: var(--sb-hover);
  }
  .menu svg {
    color: var(--sb-muted);
  }
  @media (pointer: coarse) {
    .row {
      height: 36px;
    }
    .more {
      display: inline-grid;
      width: 34px;
      height: 34px;
    }
    .menu button {
      min-height: 40px;
    }
  }
`;
