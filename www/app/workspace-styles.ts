import { css } from "lit";

/** The look of `<console-workspace>`. */
export const workspaceStyles = css`
  :host {
    position: relative;
    display: flex;
    flex: 1;
    min-height: 0;
  }
  main {
    display: grid;
    flex: 1;
    grid-template-columns: 292px minmax(0, 1fr);
    grid-template-rows: minmax(0, 1fr);
    min-height: 0;
  }
  console-sandboxes {
    border-inline-end: 1px solid var(--sb-border);
  }
  .work {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
  .work > sandbox-console {
    flex: 1;
  }
  .panel {
    flex: none;
    padding: 12px;
  }
  .middle {
    flex: 1;
    min-height: 0;
  }
  .paused {
    display: flex;
    flex: none;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px 12px;
    padding: 7px 14px;
    border-bottom: 1px solid var(--sb-border);
    background: var(--sb-warn-bg);
  }
  .paused span:first-child {
    flex: 1;
    min-width: 20ch;
  }
  .starting {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: 8px;
    color: var(--sb-muted);
  }
  @media (max-width: 760px) {
    :host {
      flex-direction: column;
    }
    main {
      grid-template-columns: minmax(0, 1fr);
    }
    main.listing > .work,
    main.working > console-sandboxes {
      display: none;
    }
    console-sandboxes {
      border: 0;
    }
  }
`;
