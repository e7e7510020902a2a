import { css } from "lit";

/** The look of `<sandbox-notebook>`. */
export const notebookStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
    background: var(--sb-bg);
  }
  .toolbar {
    display: flex;
    align-items: center;
    flex: none;
    gap: 6px;
    min-height: 40px;
    padding: 4px 12px;
    overflow: auto hidden;
    border-bottom: 1px solid var(--sb-border);
    background: var(--sb-surface);
    scrollbar-width: none;
  }
  .toolbar .field {
    width: auto;
    min-height: 28px;
    padding-block: 2px;
  }
  .toolbar .state {
    flex: 1;
    min-width: 0;
    color: var(--sb-muted);
    overflow: hidden;
    font-size: 12px;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .toolbar .file {
    flex: none;
    max-width: 24ch;
    overflow: hidden;
    font-size: 12px;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .cells {
    flex: 1;
    min-height: 0;
    padding: 12px;
    overflow: auto;
  }
  .column {
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 10px;
    max-width: 1080px;
    margin: 0 auto;
  }
  .unable {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px 12px;
    padding: 10px 12px;
    border: 1px solid var(--sb-border);
    border-radius: var(--sb-radius);
    background: var(--sb-surface);
  }
  .unable span {
    flex: 1 1 30ch;
  }
  .add {
    display: flex;
    justify-content: center;
    gap: 8px;
    padding: 4px 0 24px;
  }
  @media (max-width: 720px) {
    .cells {
      padding: 8px;
    }
    .toolbar {
      padding-inline: 8px;
    }
    .toolbar .label {
      display: none;
    }
    /* Beside the buttons there is no room for it: it has a line of its own, kept also while it says nothing. */
    .toolbar {
      flex-wrap: wrap;
    }
    .toolbar .field {
      margin-inline-end: auto;
    }
    .toolbar .state {
      order: 1;
      flex: 1 0 100%;
      min-height: 1.45em;
    }
    .toolbar .state:empty {
      position: absolute;
    }
  }
`;
