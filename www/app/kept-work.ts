/** What this tab keeps of the work in sandboxes, by its keys in the tab's storage. */

/** Which sandboxes are open. */
export const OPEN_KEY = "agent-sandbox-console.sandboxes";
/** What the keys of the work in a sandbox begin with; they hold its id too. */
export const WORK_KEY = "agent-sandbox-console.work";

/** The keys of the work in a sandbox. */
export function keptWork(id: string): string[] {
  return workKeys().filter((key) => key.split(".").includes(id));
}

/** Forgets the work in a sandbox. */
export function forgetWork(id: string): void {
  for (const key of keptWork(id)) sessionStorage.removeItem(key);
}

/** Forgets the work in all sandboxes, and which were open. */
export function forgetAllWork(): void {
  for (const key of [OPEN_KEY, ...workKeys()]) sessionStorage.removeItem(key);
}

function workKeys(): string[] {
  return Object.keys(sessionStorage).filter((key) => key.startsWith(`${WORK_KEY}.`));
}
