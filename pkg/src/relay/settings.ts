// The relay's options, checked once. Errors name the option.
import { makeError } from "../agent_sandbox_web.js";
import { mayPass } from "./headers.js";
import type { RelayIdentity, RelayOptions, RelayPolicy, RelayRight } from "./types.d.ts";

const RIGHTS: readonly RelayRight[] = [
  "create",
  "list",
  "getInfo",
  "connect",
  "setTimeout",
  "pause",
  "kill",
  "fork",
  "getMetrics",
  "logs",
  "ports",
  "createSnapshot",
  "updateNetwork",
];

/** What a user may do of whom nothing is said: what touches nobody else, and opens nothing. */
export const DEFAULT_RIGHTS = RIGHTS.filter((right) => right !== "createSnapshot" && right !== "updateNetwork");

function invalid(message: string): Error {
  return makeError("InvalidArgumentError", message, "", {});
}

/** Options whose values are what they must be, with their defaults. */
export function checked(options: RelayOptions): RelayOptions & { path: string; ownerTag: string; sessionMs: number } {
  if (typeof options !== "object" || options === null) throw invalid("createRelay needs options.");
  if (typeof options.authorize !== "function") throw invalid("authorize must be a function that says who makes a request.");
  if (typeof options.policy !== "function") checkPolicy(options.policy);
  const { path = "/api/sandbox", ownerTag = "agent-sandbox-owner", sessionMs = 900_000, origins, secret } = options;
  if (typeof path !== "string" || !/^(?:\/[\w.~-]+)+$/.test(path)) {
    throw invalid('path must be a path without a slash at its end, such as "/api/sandbox".');
  }
  if (typeof ownerTag !== "string" || !/^[\w.-]{1,64}$/.test(ownerTag)) {
    throw invalid("ownerTag must hold letters, digits, dots, - and _ only.");
  }
  if (!(typeof sessionMs === "number" && sessionMs >= 60_000 && sessionMs <= 86_400_000)) {
    throw invalid("sessionMs must be from 60000 to 86400000.");
  }
  if (secret !== undefined && (typeof secret !== "string" || secret.length < 32)) {
    throw invalid("secret must be a string of 32 characters or more.");
  }
  if (origins !== undefined && !(Array.isArray(origins) && origins.every(isOrigin))) {
    throw invalid('origins must be an array of origins, such as "https://app.example.com".');
  }
  return { ...options, path, ownerTag, sessionMs };
}

function isOrigin(value: unknown): boolean {
  try {
    return new URL(value as string).origin === value;
  } catch {
    return false;
  }
}

/** @throws {InvalidArgumentError} for a policy that is none: nothing is allowed by a mistake in its name. */
export function checkPolicy(policy: RelayPolicy | undefined): RelayPolicy {
  if (typeof policy !== "object" || policy === null) throw invalid("policy must be an object, or a function that gives one.");
  const { templates, headers = [], ports = [] } = policy;
  if (typeof templates !== "function" && !(Array.isArray(templates) && templates.every((one) => typeof one === "string"))) {
    throw invalid("policy.templates must be an array of names, or a function.");
  }
  for (const name of ["maxTimeoutMs", "maxSandboxes", "callsPerMinute", "requestsPerMinute", "maxBodyBytes"] as const) {
    const value = policy[name];
    if (value !== undefined && !(typeof value === "number" && value > 0)) throw invalid(`policy.${name} must be above 0.`);
  }
  for (const name of ["internet", "network", "resources"] as const) {
    if (policy[name] !== undefined && typeof policy[name] !== "boolean") throw invalid(`policy.${name} must be a boolean.`);
  }
  const forbidden = headers.find((name) => typeof name !== "string" || !mayPass(name.toLowerCase()));
  if (forbidden !== undefined) throw invalid(`policy.headers holds ${forbidden}, which is never passed on.`);
  if (!Array.isArray(ports) || !ports.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    throw invalid("policy.ports must be an array of ports.");
  }
  return policy;
}

/** Who makes a request, and what they may. */
export interface Identity extends RelayIdentity {
  rights: readonly RelayRight[];
}

/** What `authorize` gave, with its rights; undefined for nobody. */
export function checkIdentity(given: RelayIdentity | null | undefined): Identity | undefined {
  if (given === null || given === undefined) return undefined;
  const { owner, rights = DEFAULT_RIGHTS } = given;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused
  if (typeof owner !== "string" || !/^[^\u0000-\u001f\u007f]{1,256}$/.test(owner)) {
    throw invalid("authorize must give an owner of 1 to 256 printable characters.");
  }
  if (!Array.isArray(rights) || !rights.every((right) => RIGHTS.includes(right))) {
    throw invalid(`authorize gave a right that is none of ${RIGHTS.join(", ")}.`);
  }
  return { owner, rights };
}
