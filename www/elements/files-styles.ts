import { css } from "lit";

/** The look of `<sandbox-files>`. */
export const filesStyles = css`
  :host {
    display: block;
    min-height: 0;
    min-width: 0;
    container-type: inline-size;
    background: var(--sb-surface);
  }
  .layout {
    display: grid;
    grid-template-columns: minmax(180px, 280px) minmax(0, 1fr);
    grid-template-rows: minmax(0, 1fr);
    height: 100%;
  }
  .side {
    display: flex;
    flex-direction: column;
    min-height: 0;
    min-width: 0;
    border-inline-end: 1px solid var(--sb-border);
    background: var(--sb-bg);
  }
  .bar {
    display: flex;
    align-items: center;
    flex: none;
    height: 36px;
    padding-inline: 8px 4px;
    border-bottom: 1px solid var(--sb-border);
  }
  .root {
    flex: 1;
    min-width: 0;
    padding: 2px 4px;
    overflow: hidden;
    border: 0;
    border-radius: 4px;
    background: none;
    font-weight: 600;
    text-align: start;
    text-overflow: ellipsis;
    white-space: pre;
    cursor: pointer;
  }
  .root:hover {
    background: var(--sb-hover);
  }
  .icon-button[aria-pressed="true"] {
    background: var(--sb-selected);
    color: var(--sb-accent);
  }
  sandbox-tree,
  sandbox-search {
    flex: 1;
  }
  sandbox-transfers {
    flex: none;
  }
  .notice {
    display: flex;
    align-items: flex-start;
    gap: 8px;
    flex: none;
    padding: 6px 4px 6px 10px;
    border-top: 1px solid var(--sb-border);
    font-size: 12px;
  }
  .notice span {
    flex: 1;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  sandbox-error {
    margin: 8px;
  }
  @media (pointer: coarse) {
    .bar {
      height: 44px;
    }
  }
  @container (max-width: 560px) {
    .layout {
      grid-template-columns: minmax(0, 1fr);
    }
    .layout.editing .side,
    .layout:not(.editing) sandbox-editor {
      display: none;
    }
    .side {
      border: 0;
    }
  }
`;
