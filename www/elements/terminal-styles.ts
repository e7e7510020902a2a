import { css } from "lit";

/** The look of `<sandbox-terminal>`. */
export const terminalStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    position: relative;
    min-height: 0;
    min-width: 0;
    background: var(--sb-surface);
  }
  .screen {
    flex: 1;
    min-height: 0;
    margin: 6px 4px 4px 10px;
    overflow: hidden;
  }
  .starting {
    position: absolute;
    inset: 12px auto auto 14px;
    display: flex;
    align-items: center;
    gap: 8px;
    color: var(--sb-muted);
  }
  .ended {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px 12px;
    padding: 8px 12px;
    border-top: 1px solid var(--sb-border);
    background: var(--sb-bg);
  }
  .ended span {
    flex: 1;
    min-width: 12ch;
  }
  sandbox-error {
    margin: 8px 12px;
  }
  .find {
    position: absolute;
    z-index: 1;
    inset: 6px 18px auto auto;
    display: flex;
    align-items: center;
    gap: 2px;
    max-width: calc(100% - 24px);
    padding: 4px;
    border: 1px solid var(--sb-border);
    border-radius: var(--sb-radius);
    background: var(--sb-raised);
    box-shadow: var(--sb-shadow);
  }
  .find .field {
    width: 170px;
    min-width: 60px;
  }
  .find .count {
    flex: none;
    min-width: 7ch;
    color: var(--sb-muted);
    font-size: 12px;
    text-align: center;
  }
`;
