import { css } from "lit";

/** A dot in the colour of a sandbox's state; its text stands beside it. */
export const statusDot = css`
  .dot {
    flex: none;
    width: 8px;
    height: 8px;
    border-radius: 50%;
    background: var(--sb-muted);
  }
  .dot.running {
    background: var(--sb-ok);
  }
  .dot.paused {
    background: var(--sb-warn);
  }
  .dot.ended {
    background: var(--sb-danger);
  }
`;

/** How long a sandbox lives from now, in ms; never below 0. */
export function timeLeft(endAt: Date | undefined): number | undefined {
  return endAt && Math.max(0, endAt.getTime() - Date.now());
}
