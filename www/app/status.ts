import type { SandboxInfo } from "agent-sandbox-web";
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
  .dot.gone {
    background: var(--sb-danger);
  }
  .dot.starting,
  .dot.pausing,
  .dot.resuming,
  .dot.reconnecting {
    background: none;
    border: 2px solid var(--sb-warn);
    animation: pulse 1.2s ease-in-out infinite;
  }
  @keyframes pulse {
    50% {
      opacity: 0.35;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .dot {
      animation: none !important;
    }
  }
`;

/** What is known here of a sandbox beside what its platform says. */
export interface Known {
  /** Whether it is gone. */
  readonly ended?: boolean;
  /** A change of its state that was asked for here and is under way. */
  readonly doing?: "starting" | "pausing" | "resuming";
  /** Whether its platform does not answer: what was last known of it may be wrong by now. */
  readonly unreachable?: boolean;
}

/** The state of a sandbox as a person is told it, such as `running`; empty while nothing is known. */
export function stateOf(info: SandboxInfo | undefined, { ended, doing, unreachable }: Known): string {
  if (ended) return "gone";
  if (unreachable) return "reconnecting";
  return doing ?? (info?.status === "creating" ? "starting" : (info?.status ?? ""));
}

/** How long a sandbox lives from now, in ms; never below 0. */
export function timeLeft(endAt: Date | undefined): number | undefined {
  return endAt && Math.max(0, endAt.getTime() - Date.now());
}
