// Options with parts of their own, checked and under the names of the wire. Callbacks run here, before anything is sent.
import { makeError } from "./errors.js";
import { onlyNames } from "./options.js";
import { madeAs, readable, sendable } from "./shape.js";

const ALL_TRAFFIC = "0.0.0.0/0";

function invalid(message) {
  return makeError("InvalidArgumentError", message, "", {});
}

/** Whether it is an object of names and values, and not an array, a promise or what a class makes. */
function isPlain(value) {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A copy of an option with all that it holds, so that no getter or proxy in it can fail later; functions and instances stay as they are. */
function held(name, option) {
  const copy = (value) => {
    if (Array.isArray(value)) return Array.from(value, copy);
    if (madeAs(value) === "Map") return new Map(Array.from(value, copy));
    return isPlain(value) ? Object.fromEntries(Object.entries(value).map(copy)) : value;
  };
  return readable(name, () => copy(option));
}

/** Checks that a value has one of these types, if there is one. */
function typed(value, type, name) {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== type) throw invalid(`${name} must be a ${type}.`);
  return value;
}

/** Leaves out what is undefined. */
function present(object) {
  for (const key of Object.keys(object)) if (object[key] === undefined) delete object[key];
  return object;
}

/** Hosts and ranges, given as a list or by a function that gets `{allTraffic, rules}`. */
function selected(name, value, rules) {
  const list = typeof value === "function" ? held(name, value({ allTraffic: ALL_TRAFFIC, rules })) : (value ?? undefined);
  if (list !== undefined && !(Array.isArray(list) && list.every((one) => typeof one === "string"))) {
    throw invalid(`${name} must be an array of strings, or a function that returns one at once.`);
  }
  return list;
}

/** Placeholders of workload tokens by name. `known` holds the names that are registered; without it any may be. */
function placeholders(prefix, known) {
  return new Proxy(Object.create(null), {
    get(_, name) {
      // What looks at the object without naming a token.
      if (typeof name !== "string" || name === "then" || name === "toJSON") return undefined;
      if (known ? !known.includes(name) : !isTokenName(name)) {
        throw invalid(`A transform names the token ${name}, which iam.tokens does not have.`);
      }
      return `\${${prefix}.identity.tokens.${name}}`;
    },
    has: (_, name) => known?.includes(name) ?? false,
    ownKeys: () => known ?? [],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  });
}

function isTokenName(name) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused
  return name !== "" && !/[{}\u0000-\u001f\u007f]/.test(name);
}

function ruleBody(host, rule, context) {
  const { transform } = isPlain(rule) ? rule : { transform: 0 };
  const made = typeof transform === "function" ? held("network", transform(context)) : (transform ?? undefined);
  if (made === undefined && transform === undefined) return {};
  // A promise that nobody waits for must not be reported as unhandled on top of this.
  if (typeof made?.then === "function") made.then(undefined, () => {});
  if (!isPlain(made)) {
    throw invalid(
      `Every rule of network.rules["${host}"] must be an object, and its transform an object or a function that returns one at once.`,
    );
  }
  return { transform: sendable("network", made) };
}

/** The part of a network that can also be changed later. */
function egress(network, prefix, known, hasProxy) {
  if (!isPlain(network)) throw invalid("network must be an object.");
  const given = network.rules ?? undefined;
  if (given !== undefined && !(given instanceof Map) && !isPlain(given)) throw invalid("network.rules must be an object or a Map.");
  const rules = given instanceof Map ? given : new Map(Object.entries(given ?? {}));
  const context = { iam: { tokens: placeholders(prefix, known) } };
  let rulesBody;
  if (given !== undefined) {
    rulesBody = {};
    for (const [host, list] of rules) {
      if (typeof host !== "string" || !Array.isArray(list))
        throw invalid("network.rules must hold an array of rules for each host.");
      rulesBody[host] = list.map((rule) => ruleBody(host, rule, context));
    }
  }
  const proxy = network.egressProxy ?? undefined;
  if (proxy !== undefined) {
    if (!hasProxy) throw makeError("ProviderFeatureNotSupportedError", "This provider has no network.egressProxy.", "", {});
    onlyNames(proxy, ["address", "username", "password"], "network.egressProxy");
    if (!isPlain(proxy) || typeof proxy.address !== "string")
      throw invalid("network.egressProxy.address must be a string: host:port.");
  }
  return {
    allowOut: selected("network.allowOut", network.allowOut, rules),
    denyOut: selected("network.denyOut", network.denyOut, rules),
    egressProxy: proxy,
    rules: rulesBody,
  };
}

const EGRESS = ["allowOut", "denyOut", "rules", "egressProxy"];

/** The body of a change of what a sandbox may reach. Names of tokens cannot be checked: the sandbox has them. */
export function networkUpdate(given, prefix, hasProxy) {
  const network = held("network", given);
  const body = egress(network, prefix, undefined, hasProxy);
  onlyNames(network, [...EGRESS, "allowInternetAccess"], "network");
  const internet = typed(network.allowInternetAccess, "boolean", "network.allowInternetAccess");
  return present({ ...body, allow_internet_access: internet });
}

/** Workload tokens; undefined when there is none. */
function tokensBody(iam) {
  if (!isPlain(iam) || !isPlain(iam.tokens ?? {})) throw invalid("iam must be an object with tokens by name.");
  onlyNames(iam, ["tokens"], "iam");
  const tokens = {};
  for (const [name, token] of Object.entries(iam.tokens ?? {})) {
    if (!isTokenName(name))
      throw invalid("A name in iam.tokens must not be empty, and must not hold braces or control characters.");
    const { audience, tokenType } = readable("iam", () => ({ audience: token?.audience, tokenType: token?.tokenType }));
    if (typeof audience !== "string" || typeof tokenType !== "string") {
      throw invalid(`iam.tokens["${name}"] must have the strings audience and tokenType.`);
    }
    tokens[name] = { audience, tokenType };
  }
  return Object.keys(tokens).length > 0 ? { tokens } : undefined;
}

/** What happens at the end of a sandbox's time. */
function lifecycleBody(lifecycle) {
  if (!isPlain(lifecycle)) throw invalid("lifecycle must be an object.");
  onlyNames(lifecycle, ["onTimeout", "autoResume"], "lifecycle");
  const { onTimeout = undefined } = lifecycle;
  const autoResume = typed(lifecycle.autoResume, "boolean", "lifecycle.autoResume");
  const { action, keepMemory } = isPlain(onTimeout) ? onTimeout : { action: onTimeout ?? undefined };
  if (isPlain(onTimeout)) onlyNames(onTimeout, ["action", "keepMemory"], "lifecycle.onTimeout");
  if (action !== "kill" && action !== "pause" && (action !== undefined || isPlain(onTimeout))) {
    throw invalid('lifecycle.onTimeout must be "kill", "pause" or {action, keepMemory}.');
  }
  typed(keepMemory, "boolean", "lifecycle.onTimeout.keepMemory");
  const pauses = action === "pause";
  if (keepMemory !== undefined && !pauses) throw invalid('lifecycle.onTimeout.keepMemory goes with the action "pause" only.');
  if (autoResume && !pauses) throw invalid('lifecycle.autoResume goes with onTimeout "pause" only.');
  if (autoResume && keepMemory === false) {
    throw invalid("lifecycle.autoResume needs the memory: a sandbox that kept its files alone is resumed by Sandbox.connect.");
  }
  return present({
    autoPause: action === undefined ? undefined : pauses,
    autoPauseMemory: keepMemory,
    autoResume: autoResume === undefined ? undefined : { enabled: autoResume },
  });
}

/** The parts of a creation's body that are made of other options. */
export function creationBody(options, prefix, hasProxy) {
  const [network, iam, lifecycle] = ["network", "iam", "lifecycle"].map((name) => held(name, options[name]));
  const body = lifecycle ? lifecycleBody(lifecycle) : {};
  const tokens = iam ? tokensBody(iam) : undefined;
  if (tokens) body.iam = tokens;
  if (network) {
    const known = Object.keys(tokens?.tokens ?? {});
    const base = egress(network, prefix, known, hasProxy);
    onlyNames(network, [...EGRESS, "allowPublicTraffic", "maskRequestHost"], "network");
    const allowPublicTraffic = typed(network.allowPublicTraffic, "boolean", "network.allowPublicTraffic");
    if (allowPublicTraffic === false && options.secure === false) {
      throw invalid("network.allowPublicTraffic: false needs secure: true.");
    }
    body.network = present({
      ...base,
      allowPublicTraffic,
      maskRequestHost: typed(network.maskRequestHost, "string", "network.maskRequestHost"),
    });
  }
  return body;
}

/** The mounts of a creation. */
export function mounts(value) {
  const list = readable("volumeMounts", () =>
    Array.isArray(value) ? Array.from(value, (mount) => ({ name: mount?.name, path: mount?.path })) : undefined,
  );
  if (!list) throw invalid("volumeMounts must be an array of {name, path}.");
  if (!list.every(({ name, path }) => typeof name === "string" && typeof path === "string" && path.startsWith("/"))) {
    throw invalid("volumeMounts must be an array of {name, path}, each path absolute.");
  }
  return list;
}
