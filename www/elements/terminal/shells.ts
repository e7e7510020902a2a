/** Which shells of a sandbox have a terminal in this page, and which have none. */

import type { ProcessInfo, Sandbox } from "agent-sandbox-web";

const held = new WeakMap<Sandbox, Set<number>>();

/** Notes that a shell has a terminal; gives what takes the note back. */
export function holdShell(sandbox: Sandbox, pid: number): () => void {
  const pids = held.get(sandbox) ?? new Set();
  held.set(sandbox, pids);
  pids.add(pid);
  return () => pids.delete(pid);
}

const SHELL = /(?:^|\/)(?:ba|z|da|fi|k)?sh$/;

/** The interactive shells that run in a sandbox and have no terminal in this page: of another tab, or of a page that is gone. */
export async function looseShells(sandbox: Sandbox): Promise<readonly ProcessInfo[]> {
  const mine = held.get(sandbox);
  const all = await sandbox.commands.list();
  return all.filter(({ pid, cmd, args }) => SHELL.test(cmd) && args.includes("-i") && !mine?.has(pid));
}
