/** Tells a tab from the one that it was copied from, as by the browser's "Duplicate": the copy begins with all that the other has stored. */

const NAME = "agent-sandbox-console.tab";
const CHANNEL = "agent-sandbox-console.tabs";
// Pages on plain http from elsewhere have no locks, which tell the others that a tab has gone, however busy both are.
const hasLocks = "locks" in navigator;
// Without locks: a tab that is looked for and there answers within a few milliseconds; a busy one may need longer.
const ANSWER_MS = 500;

type Message = { readonly looksFor: string } | { readonly isHere: string };

/** Gives this tab a name that no other has. Gives whether it is a copy of a tab that is still there. */
export async function isCopiedTab(): Promise<boolean> {
  const stored = sessionStorage.getItem(NAME);
  const copied = stored !== null && (await isThere(stored));
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

/**
 * Whether there is a tab of this name: it answers, or its lock becomes free. A page that was loaded anew may find the lock of the one before
 * for a moment, which does not answer any more.
 */
async function isThere(name: string): Promise<boolean> {
  const channel = new BroadcastChannel(CHANNEL);
  const known = new AbortController();
  const ask = () => channel.postMessage({ looksFor: name } satisfies Message);
  // Again and again: it may be about to listen.
  const asking = setInterval(ask, 200);
  try {
    return await new Promise<boolean>((resolve) => {
      channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
        if ("isHere" in data && data.isHere === name) resolve(true);
      });
      ask();
      if (!hasLocks) setTimeout(() => resolve(false), ANSWER_MS);
      else
        navigator.locks
          .request(lockOf(name), { signal: known.signal }, () => resolve(false))
          .catch(() => {
            // It has answered.
          });
    });
  } finally {
    clearInterval(asking);
    known.abort();
    channel.close();
  }
}

function lockOf(name: string): string {
  return `${NAME} ${name}`;
}
