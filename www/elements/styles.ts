import { css } from "lit";

/** What every element of this folder looks like: text, buttons, fields, focus. The colours come from theme.css. */
export const base = css`
  :host {
    box-sizing: border-box;
    font: var(--sb-size) / 1.45 var(--sb-font);
    color: var(--sb-text);
    /* What pages often set for all of their text is not meant for lines of code and rows of files. */
    letter-spacing: normal;
    text-align: start;
    text-transform: none;
  }
  :host([hidden]) {
    display: none !important;
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  [hidden] {
    display: none !important;
  }
  button,
  input,
  select,
  textarea {
    font: inherit;
    color: inherit;
    margin: 0;
  }
  :focus-visible {
    outline: 2px solid var(--sb-accent);
    outline-offset: -1px;
  }
  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 6px;
    min-height: 28px;
    padding: 3px 11px;
    border: 1px solid var(--sb-border-strong);
    border-radius: var(--sb-radius);
    background: var(--sb-raised);
    font-weight: 500;
    white-space: nowrap;
    cursor: pointer;
  }
  .button:hover {
    background: var(--sb-hover);
  }
  .button:focus-visible {
    outline-offset: 1px;
  }
  .button:disabled {
    opacity: 0.55;
    cursor: default;
  }
  .button.primary {
    border-color: transparent;
    background: var(--sb-accent-fill);
    color: var(--sb-on-fill);
  }
  .button.primary:hover:enabled {
    background: var(--sb-accent-fill-hover);
  }
  .button.danger {
    border-color: transparent;
    background: var(--sb-danger-fill);
    color: #fff;
  }
  .icon-button {
    display: inline-grid;
    place-items: center;
    flex: none;
    width: 26px;
    height: 26px;
    padding: 0;
    border: 0;
    border-radius: 5px;
    background: none;
    color: var(--sb-muted);
    cursor: pointer;
  }
  .icon-button:hover:enabled {
    background: var(--sb-hover);
    color: var(--sb-text);
  }
  .icon-button:disabled {
    opacity: 0.45;
    cursor: default;
  }
  .field {
    width: 100%;
    min-height: 30px;
    padding: 4px 9px;
    border: 1px solid var(--sb-border-strong);
    border-radius: var(--sb-radius);
    background: var(--sb-surface);
  }
  .field::placeholder {
    color: var(--sb-muted);
    opacity: 1;
  }
  svg.icon {
    display: block;
    flex: none;
    width: 16px;
    height: 16px;
  }
  .mono {
    font-family: var(--sb-mono);
    font-size: 12px;
  }
  .muted {
    color: var(--sb-muted);
  }
  .visually-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .escaped {
    margin: 0 1px;
    padding: 0 2px;
    border-radius: 3px;
    background: var(--sb-warn-bg);
    color: var(--sb-warn);
    font-family: var(--sb-mono);
    font-size: 0.85em;
  }
  .spinner {
    flex: none;
    width: 14px;
    height: 14px;
    border: 2px solid var(--sb-border-strong);
    border-top-color: var(--sb-accent);
    border-radius: 50%;
    animation: turn 0.8s linear infinite;
  }
  @keyframes turn {
    to {
      transform: rotate(1turn);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .spinner {
      animation-duration: 3s;
    }
  }
  @media (pointer: coarse) {
    .icon-button {
      width: 34px;
      height: 34px;
    }
    .button,
    .field {
      min-height: 36px;
    }
  }
`;

/** What every dialog looks like. */
export const dialogBox = css`
  dialog {
    width: min(var(--dialog-width, 440px), calc(100vw - 24px));
    max-height: calc(100vh - 24px);
    padding: 18px;
    overflow: auto;
    border: 1px solid var(--sb-border);
    border-radius: 12px;
    background: var(--sb-raised);
    color: inherit;
    box-shadow: var(--sb-shadow);
  }
  dialog::backdrop {
    background: rgb(8 10 16 / 45%);
  }
  dialog h2 {
    margin: 0 0 8px;
    font-size: 15px;
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  dialog .buttons {
    display: flex;
    flex-wrap: wrap;
    justify-content: flex-end;
    gap: 8px;
    margin-top: 12px;
  }
`;

/** A centred message for a place that has nothing to show yet. */
export const emptyState = css`
  .empty {
    display: grid;
    place-content: center;
    justify-items: center;
    gap: 8px;
    height: 100%;
    padding: 20px;
    color: var(--sb-muted);
    text-align: center;
  }
  .empty h2 {
    margin: 0;
    font-size: 14px;
    font-weight: 600;
    color: var(--sb-text);
  }
  .empty p {
    margin: 0;
    max-width: 42ch;
  }
  .empty > svg.icon {
    width: 28px;
    height: 28px;
    stroke-width: 1.4;
  }
`;
