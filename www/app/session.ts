/** The page's right to use the platform: a token that came for the code in its address, from another tab, or a key typed in. */

import { ExplainedError } from "../elements/describe-error.js";
import type { Target } from "./platform.js";

const TOKEN = "agent-sandbox-console.token";
const KEY = "agent-sandbox-console.key";
const TARGET = "agent-sandbox-console.target";
const CHANNEL = "agent-sandbox-console";
// Another tab answers within a few milliseconds; a busy one may need longer.
const ANSWER_MS = 500;

type Message = { readonly ask: true } | { readonly token: string };

/**
 * Takes the single-use code out of the page's address. It is gone from the address bar, the history and whatever reads them before
 * anything else happens.
 */
export function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

function storedTarget(): Target | undefined {
  const stored = sessionStorage.getItem(TARGET);
  return stored === null ? undefined : (JSON.parse(stored) as Target);
}

/** The token or key of this tab. */
export class Session {
  private key = sessionStorage.getItem(KEY) ?? undefined;
  /** The other platform that is used instead of the one that serves this page. */
  target: Target | undefined = storedTarget();
  private readonly channel = new BroadcastChannel(CHANNEL);
  private waiting: ((token: string) => void) | undefined;

  /** @param offered called when another tab hands over a token while this one has none */
  constructor(private readonly offered: () => void) {
    this.channel.addEventListener("message", (event: MessageEvent<Message>) => this.receive(event.data));
  }

  /** What authorises requests, if there is anything. */
  get credential(): string | undefined {
    return this.target?.apiKey ?? this.key ?? sessionStorage.getItem(TOKEN) ?? undefined;
  }

  /** Whether the credential is a key that was typed in, and not a token of the console. */
  get isKey(): boolean {
    return this.key !== undefined || this.target !== undefined;
  }

  /** Whether the platform that serves this page can be used without another key. */
  get knowsOwn(): boolean {
    return this.key !== undefined || sessionStorage.getItem(TOKEN) !== null;
  }

  /** Exchanges a code for a token, keeps it for this tab, and hands it to the others. */
  async exchange(code: string): Promise<void> {
    let response: Response;
    try {
      response = await fetch("/console/session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code }),
      });
    } catch (cause) {
      throw new ExplainedError(
        "The platform does not answer",
        "The code could not be exchanged.",
        "Start the platform again and open the address that it prints.",
        { cause },
      );
    }
    if (!response.ok) {
      throw new ExplainedError(
        "This link is used up",
        "The code in the address opens the console once, and only while the platform that printed it runs.",
        "Go back to the tab that it opened, start the platform again for a new address, or connect with the API key.",
      );
    }
    const { token } = (await response.json()) as { token: string };
    this.keep(token);
    this.send({ token });
  }

  /** Asks the other tabs of the console for their token. */
  async askTabs(): Promise<boolean> {
    const token = await new Promise<string | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), ANSWER_MS);
      this.waiting = (answer) => {
        clearTimeout(timer);
        resolve(answer);
      };
      this.send({ ask: true });
    });
    this.waiting = undefined;
    if (token === undefined) return false;
    this.keep(token);
    return true;
  }

  /**
   * Uses an API key of the platform that serves this page until the page is left; with `keep` until the tab is closed: it then lies in
   * the tab's session storage. It is handed to no other tab.
   */
  useKey(key: string, keep = false): void {
    this.useTarget(undefined);
    this.key = key;
    if (keep) sessionStorage.setItem(KEY, key);
    else sessionStorage.removeItem(KEY);
  }

  /**
   * Uses another platform until the page is left; with `keep` until the tab is closed: its key then lies in the tab's session storage.
   * Without a target the platform that serves this page is used again.
   */
  useTarget(target: Target | undefined, keep = false): void {
    this.target = target;
    if (target && keep) sessionStorage.setItem(TARGET, JSON.stringify(target));
    else sessionStorage.removeItem(TARGET);
  }

  /** Forgets a credential that the platform refuses. */
  forget(): void {
    if (this.target) {
      this.useTarget(undefined);
      return;
    }
    this.forgetKey();
    sessionStorage.removeItem(TOKEN);
  }

  private keep(token: string): void {
    this.forgetKey();
    sessionStorage.setItem(TOKEN, token);
  }

  private forgetKey(): void {
    this.key = undefined;
    sessionStorage.removeItem(KEY);
  }

  private send(message: Message): void {
    this.channel.postMessage(message);
  }

  private receive(message: Message): void {
    if ("ask" in message) {
      const token = sessionStorage.getItem(TOKEN);
      if (token !== null) this.send({ token });
    } else if (this.waiting) this.waiting(message.token);
    else if (this.credential === undefined) {
      this.keep(message.token);
      this.offered();
    }
  }
}
