import { css } from "lit";

/** The look of `<sandbox-command>`. */
export const commandStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
    background: var(--sb-surface);
  }
  .runs {
    flex: 1;
    min-height: 0;
    overflow: auto;
    overflow-anchor: none;
  }
  .run {
    padding: 8px 12px 10px;
    border-bottom: 1px solid var(--sb-border);
  }
  .head {
    display: flex;
    align-items: flex-start;
    gap: 8px;
  }
  .prompt {
    color: var(--sb-accent);
    user-select: none;
  }
  .text {
    flex: 1;
    min-width: 0;
    margin: 0;
    font: 600 12px / 1.5 var(--sb-mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .end {
    display: inline-flex;
    align-items: center;
    gap: 6px;
    flex: none;
    min-height: 18px;
    color: var(--sb-muted);
    font-size: 12px;
    font-variant-numeric: tabular-nums;
  }
  .badge {
    padding: 0 6px;
    border: 1px solid color-mix(in srgb, currentcolor 45%, transparent);
    border-radius: 9px;
    font-weight: 500;
  }
  .badge.ok {
    color: var(--sb-ok);
  }
  .badge.failed {
    color: var(--sb-danger);
  }
  sandbox-output {
    margin-top: 4px;
  }
  sandbox-error {
    margin-top: 8px;
  }
  form {
    display: flex;
    align-items: flex-end;
    gap: 8px;
    padding: 8px 12px;
    border-top: 1px solid var(--sb-border);
    background: var(--sb-bg);
  }
  textarea {
    flex: 1;
    min-width: 0;
    max-height: 30vh;
    resize: none;
    field-sizing: content;
    font-family: var(--sb-mono);
    font-size: 12px;
    line-height: 20px;
  }
  form .button {
    width: 84px;
    min-height: 30px;
  }
  @media (pointer: coarse) {
    /* A smaller field makes phones zoom in. */
    textarea {
      font-size: 16px;
    }
    form .button {
      min-height: 38px;
    }
  }
`;
