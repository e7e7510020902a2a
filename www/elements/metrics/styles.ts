import { css } from "lit";

/** What the parts of `<sandbox-metrics>` share: headings and tables. */
export const metricsStyles = css`
  :host {
    display: block;
    min-width: 0;
  }
  .head {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px 8px;
    min-height: 28px;
    margin-bottom: 6px;
  }
  h2 {
    margin: 0;
    font-size: 13px;
    font-weight: 600;
  }
  .count {
    color: var(--sb-muted);
    font-weight: 400;
  }
  .end {
    margin-inline-start: auto;
  }
  .none {
    margin: 0;
    padding: 8px 0;
    color: var(--sb-muted);
  }
  .scroll {
    overflow: auto;
    border: 1px solid var(--sb-border);
    border-radius: var(--sb-radius);
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-variant-numeric: tabular-nums;
  }
  th,
  td {
    padding: 3px 8px;
    border-bottom: 1px solid var(--sb-border);
    text-align: start;
    white-space: nowrap;
  }
  tbody tr:last-child > * {
    border-bottom: 0;
  }
  thead th {
    position: sticky;
    top: 0;
    z-index: 1;
    background: var(--sb-bg);
    color: var(--sb-muted);
    font-size: 12px;
    font-weight: 500;
  }
  .number {
    text-align: end;
  }
  .wide {
    width: 100%;
    max-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .tight {
    padding: 0 4px;
  }
  .chip {
    padding: 0 6px;
    border-radius: 4px;
    background: var(--sb-hover);
    color: var(--sb-muted);
    font-size: 11px;
  }
  .field {
    width: auto;
    min-height: 28px;
    padding-block: 2px;
  }
  sandbox-error {
    margin-bottom: 8px;
  }
`;
