import { css } from "lit";

/** The look of `<console-app>`. */
export const appStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    height: 100%;
    background: var(--sb-bg);
  }
  header {
    display: flex;
    align-items: center;
    gap: 10px;
    flex: none;
    height: 44px;
    padding-inline: 14px 10px;
    border-bottom: 1px solid var(--sb-border);
    background: var(--sb-surface);
  }
  .logo {
    display: grid;
    place-items: center;
    width: 24px;
    height: 24px;
    border-radius: 7px;
    background: var(--sb-accent-fill);
    color: var(--sb-on-fill);
  }
  h1 {
    margin: 0;
    font-size: inherit;
    font-weight: 600;
    white-space: nowrap;
    letter-spacing: -0.01em;
  }
  .facts {
    display: flex;
    flex: 1;
    align-items: center;
    gap: 10px;
    min-width: 0;
    overflow: hidden;
    color: var(--sb-muted);
    font-size: 12px;
    white-space: nowrap;
  }
  .where {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .palette {
    display: flex;
    align-items: center;
    gap: 7px;
    flex: none;
    min-height: 28px;
    padding: 0 8px;
    border: 1px solid var(--sb-border);
    border-radius: var(--sb-radius);
    background: none;
    color: var(--sb-muted);
    font-size: 12px;
    cursor: pointer;
  }
  .palette:hover {
    background: var(--sb-hover);
    color: var(--sb-text);
  }
  .palette svg.icon {
    width: 14px;
    height: 14px;
  }
  kbd {
    margin-inline-start: 10px;
    font: inherit;
  }
  @media (max-width: 760px) {
    .version {
      display: none;
    }
    .palette {
      min-width: 34px;
      min-height: 34px;
      justify-content: center;
      border: 0;
    }
    .palette .hint {
      display: none;
    }
  }
  .banner {
    display: flex;
    flex: none;
    align-items: flex-start;
    gap: 8px;
    padding: 8px 14px;
    border-bottom: 1px solid color-mix(in srgb, var(--sb-danger) 40%, transparent);
    background: var(--sb-danger-bg);
    color: var(--sb-danger);
    font-weight: 500;
  }
  .trouble {
    flex: none;
    padding: 8px 12px;
    border-bottom: 1px solid var(--sb-border);
  }
  main.single {
    display: flex;
    flex: 1;
    min-height: 0;
  }
  main.single > * {
    flex: 1;
  }
  .starting {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: 8px;
    color: var(--sb-muted);
  }
`;
