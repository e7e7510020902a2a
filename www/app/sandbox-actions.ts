import type { SandboxInfo } from "agent-sandbox-web";
import type { IconName } from "../elements/icons.js";

/** What can be done with a sandbox as a whole. */
export type SandboxAction = "extend" | "extend-hour" | "pause" | "resume" | "fork" | "snapshot" | "copy-id" | "kill";

/** How an action is offered. */
export interface OfferedAction {
  readonly action: SandboxAction;
  readonly label: string;
  readonly icon: IconName;
  /** Whether it destroys something. */
  readonly danger?: boolean;
}

const ALL: Record<SandboxAction, OfferedAction> = {
  extend: { action: "extend", label: "+15 min", icon: "time" },
  "extend-hour": { action: "extend-hour", label: "+1 hour", icon: "time" },
  pause: { action: "pause", label: "Pause", icon: "pause" },
  resume: { action: "resume", label: "Resume", icon: "run" },
  fork: { action: "fork", label: "Fork", icon: "fork" },
  snapshot: { action: "snapshot", label: "Keep a snapshot", icon: "snapshot" },
  "copy-id": { action: "copy-id", label: "Copy the id", icon: "copy" },
  kill: { action: "kill", label: "Kill", icon: "power", danger: true },
};

/** What can be done with a sandbox in a state, in the order of use. */
export function actionsIn(state: string, info: SandboxInfo | undefined): OfferedAction[] {
  const names: Record<string, SandboxAction[]> = {
    running: ["extend", "extend-hour", "pause", "fork", "snapshot", "copy-id", "kill"],
    // Platforms make forks and snapshots of what runs.
    paused: ["resume", "copy-id", "kill"],
    reconnecting: ["copy-id"],
    gone: ["copy-id"],
  };
  const offered = names[state] ?? ["copy-id", "kill"];
  return offered.filter((name) => info?.endAt !== undefined || !name.startsWith("extend")).map((name) => ALL[name]);
}
