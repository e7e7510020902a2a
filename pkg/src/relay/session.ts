// Session tokens: what lets a page through to the ports of one sandbox for a while. They are signed and not encrypted: what stands in one
// is known to the page it is given to.
import { Refusal } from "./refusal.js";

/** What a token says. */
export interface Session {
  /** The sandbox's id. */
  readonly sandbox: string;
  readonly owner: string;
  /** The ports it opens. */
  readonly ports: readonly number[];
  /** When it ends, in ms since 1970. */
  readonly exp: number;
  /** The sandbox's own domain, when the control plane named one. */
  readonly domain?: string | undefined;
  /** The token of ports that are not public, which the page brought. */
  readonly traffic?: string | undefined;
}

/** How far the clocks of the servers that run a relay may be apart, in ms: a token is taken for as long after its end. */
export const CLOCK_SKEW_MS = 30_000;

/** No token is longer: what is, is not looked at. */
const MAX_LENGTH = 4096;

const VERSION = "v1";
const HMAC = { name: "HMAC", hash: "SHA-256" };
const encoder = new TextEncoder();

export class Sessions {
  readonly #secret: () => Promise<string>;
  /** Kept as it is and not as a promise: a Worker's request that is given up leaves its promises pending for ever. */
  #kept: { secret: string; key: CryptoKey } | undefined;

  /** `secret` may change; tokens of an older one are then refused, and pages ask for new ones. */
  constructor(secret: () => Promise<string>) {
    this.#secret = secret;
  }

  async sign(session: Session): Promise<string> {
    const signed = `${VERSION}.${encode(encoder.encode(JSON.stringify(session)))}`;
    const signature = await crypto.subtle.sign(HMAC, await this.#key(), encoder.encode(signed));
    return `${signed}.${encode(new Uint8Array(signature))}`;
  }

  /** Reads a token. Its signature is checked before anything in it is looked at, in constant time (by WebCrypto). */
  async verify(token: string | null | undefined, now = Date.now()): Promise<Session> {
    if (!token) throw new Refusal(401, "no_session", "The request carries no session token of the relay.");
    const [version, claims, signature, ...more] = token.length > MAX_LENGTH ? [] : token.split(".");
    const invalid = () => new Refusal(401, "session_invalid", "The session token is none of this relay.");
    if (version !== VERSION || !claims || !signature || more.length > 0) throw invalid();
    const [signed, mac] = [encoder.encode(`${version}.${claims}`), decode(signature)];
    if (mac === undefined || !(await crypto.subtle.verify(HMAC, await this.#key(), mac, signed))) throw invalid();
    const session = read(claims);
    if (session === undefined) throw invalid();
    if (now > session.exp + CLOCK_SKEW_MS) throw new Refusal(401, "session_expired", "The session token has expired.");
    return session;
  }

  async #key(): Promise<CryptoKey> {
    const secret = await this.#secret();
    if (this.#kept?.secret === secret) return this.#kept.key;
    const key = await derived(secret);
    this.#kept = { secret, key };
    return key;
  }
}

/** The key of tokens: an API key as a secret signs nothing itself. */
async function derived(secret: string): Promise<CryptoKey> {
  const master = await crypto.subtle.importKey("raw", encoder.encode(secret), HMAC, false, ["sign"]);
  const bytes = await crypto.subtle.sign(HMAC, master, encoder.encode("agent-sandbox-web relay session v1"));
  return crypto.subtle.importKey("raw", bytes, HMAC, false, ["sign", "verify"]);
}

/** The claims of a token whose signature was right; undefined when one that must be there is not. */
function read(claims: string): Session | undefined {
  try {
    const value = JSON.parse(new TextDecoder().decode(decode(claims))) as Partial<Session>;
    const { sandbox, owner, ports, exp } = value;
    const whole = typeof sandbox === "string" && typeof owner === "string" && Array.isArray(ports) && Number.isFinite(exp);
    return whole ? (value as Session) : undefined;
  } catch {
    return undefined;
  }
}

function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");
}

function decode(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]+$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}
