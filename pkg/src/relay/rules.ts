// What a page may ask for, by the names of the wire. What is not named here is refused: what platforms learn later is nobody's by default.
import { isObject } from "./bodies.js";
import { Refusal } from "./refusal.js";
import type { RelayIdentity, RelayPolicy } from "./types.d.ts";

const DEFAULT_MAX_TIMEOUT_MS = 3_600_000;

/** Fields of a creation that every page may send. */
const CREATION = [
  "templateID",
  "timeout",
  "metadata",
  "envVars",
  "secure",
  "allow_internet_access",
  "autoPause",
  "autoPauseMemory",
  "autoResume",
  "network",
];

/** Fields that cost: `policy.resources`. */
const RESOURCES = ["cpuCount", "memoryMB", "diskSizeMB", "gpu"];

/** Parts of a network that say who reaches the sandbox, and those that say what it reaches: `policy.network`. */
const INGRESS = ["allowPublicTraffic", "maskRequestHost"];
const EGRESS = ["allowOut", "denyOut"];

const refused = (message: string) => new Refusal(403, "policy", message);

/** Refuses fields but these. */
function only(body: Record<string, unknown>, names: readonly string[], of: string): void {
  const other = Object.keys(body).find((name) => !names.includes(name));
  if (other !== undefined) throw refused(`The relay's policy has no place for ${other} in ${of}.`);
}

/** A lifetime, in seconds. */
function checkTimeout(timeout: unknown, policy: RelayPolicy): void {
  if (timeout === undefined) return;
  const most = policy.maxTimeoutMs ?? DEFAULT_MAX_TIMEOUT_MS;
  if (typeof timeout !== "number" || !(timeout >= 0)) throw new Refusal(400, "bad_request", "timeout must be a number of seconds.");
  if (timeout * 1000 > most)
    throw refused(`The relay's policy lets sandboxes live ${most} ms at a time: ask for less in timeoutMs.`);
}

/** The body of a creation as it goes on, with its owner's tag. */
export async function creation(
  body: Record<string, unknown>,
  policy: RelayPolicy,
  identity: RelayIdentity,
  tag: string,
): Promise<Record<string, unknown>> {
  only(body, policy.resources ? [...CREATION, ...RESOURCES] : CREATION, "a sandbox");
  const { templateID, timeout, secure, network, metadata = {} } = body;
  if (typeof templateID !== "string") throw new Refusal(400, "bad_request", "templateID must be a string.");
  const { templates } = policy;
  const allowed = typeof templates === "function" ? await templates(templateID, identity) : templates.includes(templateID);
  if (allowed !== true) throw refused("The relay's policy does not let this user create sandboxes from this template.");
  checkTimeout(timeout ?? 0, policy);
  if (secure !== undefined && secure !== true) throw refused("The relay makes secure sandboxes alone: secure must be true.");
  if (network !== undefined) checkNetwork(network, policy, [...INGRESS, ...EGRESS]);
  if (!isObject(metadata) || Object.values(metadata).some((value) => typeof value !== "string")) {
    throw new Refusal(400, "bad_request", "metadata must be an object of strings.");
  }
  if (Object.hasOwn(metadata, tag)) throw refused(`The metadata ${tag} is the relay's own: a page cannot set it.`);
  return {
    ...body,
    metadata: { ...metadata, [tag]: identity.owner },
    ...(policy.internet === false ? { allow_internet_access: false } : {}),
  };
}

function checkNetwork(network: unknown, policy: RelayPolicy, names: string[]): void {
  if (!isObject(network)) throw new Refusal(400, "bad_request", "network must be an object.");
  only(network, names, "network");
  const egress = Object.keys(network).some((name) => !INGRESS.includes(name));
  if (egress && (!policy.network || policy.internet === false)) {
    throw refused("The relay's policy does not let pages choose what a sandbox reaches.");
  }
}

/** A change of a sandbox's network. */
export function networkUpdate(body: Record<string, unknown>, policy: RelayPolicy): Record<string, unknown> {
  // What is left out of it is open from then on.
  if (!policy.network || policy.internet === false)
    throw refused("The relay's policy does not let pages choose what a sandbox reaches.");
  only(body, [...EGRESS, "allow_internet_access"], "a change of the network");
  return body;
}

/** The body of another call, which takes these fields. */
export function plain(body: Record<string, unknown>, policy: RelayPolicy, fields: readonly string[]): Record<string, unknown> {
  only(body, fields, "this call");
  checkTimeout(body.timeout, policy);
  return body;
}

/** How many forks are asked for. */
export function forkCount({ count = 1 }: Record<string, unknown>): number {
  if (Number.isInteger(count) && (count as number) >= 1 && (count as number) <= 100) return count as number;
  throw new Refusal(400, "bad_request", "count must be a whole number from 1 to 100.");
}
