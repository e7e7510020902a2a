import { css } from "lit";

/** The look of `<sandbox-editor>`. */
export const editorStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
    background: var(--sb-surface);
  }
  .bar {
    display: flex;
    align-items: stretch;
    height: 36px;
    padding-inline-end: 6px;
    border-bottom: 1px solid var(--sb-border);
    background: var(--sb-bg);
  }
  .bar > .icon-button {
    align-self: center;
  }
  .back {
    display: none;
  }
  :host([covering]) .back {
    display: inline-grid;
  }
  .tabs {
    display: flex;
    flex: 1;
    min-width: 0;
    overflow: auto hidden;
    scrollbar-width: none;
  }
  .tab {
    display: flex;
    align-items: center;
    gap: 6px;
    flex: none;
    max-width: 220px;
    padding: 0 6px 0 12px;
    border: 0;
    border-inline-end: 1px solid var(--sb-border);
    background: none;
    color: var(--sb-muted);
    cursor: pointer;
  }
  .tab:hover {
    color: var(--sb-text);
  }
  .tab[aria-selected="true"] {
    background: var(--sb-surface);
    color: var(--sb-text);
    box-shadow: inset 0 2px 0 var(--sb-accent);
  }
  .tab .name {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: pre;
  }
  .close {
    display: grid;
    place-items: center;
    width: 20px;
    height: 20px;
    border-radius: 4px;
    opacity: 0.65;
  }
  .close:hover {
    background: var(--sb-hover);
    opacity: 1;
  }
  .close svg.icon {
    width: 13px;
    height: 13px;
  }
  .dirty {
    width: 8px;
    height: 8px;
    border-radius: 50%;
    background: var(--sb-warn);
  }
  .body {
    position: relative;
    display: flex;
    flex-direction: column;
    flex: 1;
    min-height: 0;
  }
  .code {
    flex: 1;
    min-height: 0;
  }
  .rendered {
    flex: 1;
    min-height: 0;
    padding: 14px 20px;
    overflow: auto;
  }
  .rendered sandbox-result {
    max-width: 860px;
  }
  .icon-button[aria-pressed="true"] {
    background: var(--sb-selected);
    color: var(--sb-accent);
  }
  .message {
    height: 100%;
    padding: 16px;
    overflow: auto;
  }
  .message h2 {
    margin: 0 0 4px;
    font-size: 15px;
    overflow-wrap: anywhere;
  }
  .message h3 {
    margin: 18px 0 6px;
    font-size: 13px;
  }
  .message p {
    margin: 0 0 8px;
  }
  .waiting {
    display: flex;
    align-items: flex-start;
    gap: 8px;
    color: var(--sb-muted);
  }
  .preview {
    margin: 0;
    padding: 10px 12px;
    overflow: auto;
    border: 1px solid var(--sb-border);
    border-radius: var(--sb-radius);
    background: var(--sb-bg);
    line-height: 1.5;
  }
  .outside {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px 8px;
    flex: none;
    padding: 6px 12px;
    border-bottom: 1px solid var(--sb-border);
    background: var(--sb-warn-bg);
  }
  .outside > svg.icon {
    color: var(--sb-warn);
  }
  .outside span {
    flex: 1;
    min-width: 20ch;
  }
  .picture {
    display: flex;
    flex-direction: column;
    height: 100%;
    min-height: 0;
    margin: 0;
  }
  .picture .frame {
    display: grid;
    place-items: center;
    flex: 1;
    min-height: 0;
    padding: 12px;
    overflow: auto;
    background: repeating-conic-gradient(var(--sb-hover) 0 25%, var(--sb-surface) 0 50%) 0 0 / 20px 20px;
  }
  .picture img {
    display: block;
    max-width: 100%;
    max-height: 100%;
    min-height: 0;
    object-fit: contain;
  }
  .picture figcaption {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 14px;
    padding: 5px 12px;
    border-top: 1px solid var(--sb-border);
    background: var(--sb-bg);
    font-size: 12px;
  }
  .save-error {
    margin: 8px;
  }
  .status {
    display: flex;
    align-items: center;
    gap: 16px;
    height: 24px;
    padding: 0 12px;
    border-top: 1px solid var(--sb-border);
    background: var(--sb-bg);
    color: var(--sb-muted);
    font-size: 11.5px;
    white-space: nowrap;
  }
  .path {
    flex: 1;
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: pre;
  }
  :host([covering]) .detail {
    display: none;
  }
`;
