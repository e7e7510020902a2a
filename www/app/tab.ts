/** Tells a tab from the one that it was copied from, as by the browser's "Duplicate": the copy begins with all that the other has stored. */

const NAME = "agent-sandbox-console.tab";
const CHANNEL = "agent-sandbox-console.tabs";
// A tab that is looked for and there answers within a few milliseconds; a busy one may need longer.
const ANSWER_MS = 500;

// Pages on plain http from elsewhere have no locks, which only save the others the waiting for an answer that does not come.
const hasLocks = "locks" in navigator;

type Message = { readonly looksFor: string } | { readonly isHere: string };

/** Gives this tab a name that no other has. Gives whether it is a copy of a tab that is still there. */
export async function isCopiedTab(): Promise<boolean> {
  const stored = sessionStorage.getItem(NAME);
  // A page that was loaded anew may find the lock of the one before, which does not answer any more.
  const copied = stored !== null && (await isHeld(stored)) && (await answers(stored));
  const name = stored === null || copied ? crypto.getRandomValues(new Uint32Array(4)).join("-") : stored;
  sessionStorage.setItem(NAME, name);
  if (hasLocks) {
    const forGood = new Promise<never>(() => {});
    void navigator.locks.request(lockOf(name), () => forGood);
  }
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if ("looksFor" in data && data.looksFor === name) channel.postMessage({ isHere: name } satisfies Message);
  });
  return copied;
}

async function isHeld(name: string): Promise<boolean> {
  if (!hasLocks) return true;
  const { held = [] } = await navigator.locks.query();
  return held.some((lock) => lock.name === lockOf(name));
}

async function answers(name: string): Promise<boolean> {
  const channel = new BroadcastChannel(CHANNEL);
  try {
    return await new Promise<boolean>((resolve) => {
      setTimeout(() => resolve(false), ANSWER_MS);
      channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
        if ("isHere" in data && data.isHere === name) resolve(true);
      });
      channel.postMessage({ looksFor: name } satisfies Message);
    });
  } finally {
    channel.close();
  }
}

function lockOf(name: string): string {
  return `${NAME} ${name}`;
}
