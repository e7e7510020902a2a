// Which options each method takes, by name. Any other is refused before anything is sent: it is misspelt, or belongs to another call.
import { makeError } from "./errors.js";
import { callFrom } from "./place.js";
import { isRecord, items, readable } from "./shape.js";

const CALL = "signal requestTimeoutMs ";
const PROCESS = "cwd user envs timeoutMs stdin input output background check capture ";
const TERMINAL = "cols rows shell cwd user envs timeoutMs ";
const FILE_URL = "=user expiresInMs";

/** Of everything that begins with a connection. */
export const CONNECTION =
  "provider apiKey apiUrl sandboxUrl domain apiHeaders validateApiKey check logger fetch proxy relay debug webSocket accessKeyId accessKeySecret ";

/** Of `Sandbox.create`. */
export const CREATION = `${CONNECTION}template timeoutMs metadata envs secure allowInternetAccess network iam lifecycle volumeMounts mcp cpu memory disk gpu`;

/** Of a `ServerClient`. */
export const SERVER = "=token headers ptyUrl timeoutMs fetch webSocket logger";

const PROFILE = "=name like domain apiUrl keyHeader routingPrefix trafficTokenHeader placeholderPrefix codec signedUrls";

/**
 * Where a method's options stand among its arguments, and their names on top of those that every call takes; behind an equals sign the
 * names alone.
 */
export const METHODS = {
  Code: {
    run: [1, "language context contextId envs timeoutMs capture onStdout onStderr onResult onError"],
    createContext: [0, "language cwd"],
    listContexts: [0],
    restartContext: [1],
    removeContext: [1],
  },
  Commands: {
    run: [1, `${PROCESS}onStdout onStderr`],
    stream: [1, PROCESS],
    start: [1, `${PROCESS}onStdout onStderr`],
    connect: [1, "output"],
    list: [0],
    kill: [1],
    sendSignal: [2],
    sendInput: [2],
    closeStdin: [1],
  },
  ProcessStream: { wait: [0, "check onStdout onStderr"], kill: [0], sendInput: [1], closeStdin: [0] },
  Files: {
    read: [1, "user format encoding start end"],
    readBytes: [1, "user format encoding start end"],
    upload: [2, "user atomic gzip metadata onProgress"],
    download: [2, "user onProgress"],
    list: [1, "user depth"],
    exists: [1, "user"],
    getInfo: [1, "user"],
    makeDir: [1, "user"],
    move: [2, "user"],
    remove: [1, "user"],
    watch: [1, "user recursive includeEntry allowNetworkMounts"],
    downloadUrl: [1, FILE_URL],
    uploadUrl: [1, FILE_URL],
  },
  Network: {},
  Pty: { create: [0, TERMINAL], connect: [1], kill: [1], sendInput: [2], resize: [2] },
  PtyHandle: { resize: [1] },
  Sandbox: {
    getTerminal: [0, `${TERMINAL}pid gapMarker transport server sessionId`],
    serverAt: [0, "=port ptyPort token headers timeoutMs"],
    startServer: [0, "port ptyPort commands policy token headers envs command wait timeoutMs"],
    listCommands: [0, "serverPort"],
    run: [2, "serverPort"],
  },
  TerminalSession: {},
};

/** Methods that give their answer at once, and throw. */
const AT_ONCE = [
  "stream",
  "outputStream",
  "getHost",
  "getUrl",
  "getAccessHeaders",
  "downloadUrl",
  "uploadUrl",
  "handoff",
  "serverAt",
  "listSnapshots",
];

/** Names in other SDKs that are not near to those here. */
const ELSEWHERE = { environment: "envs", cmdtimeout: "timeoutMs" };

/** How many letters must be changed to make one word of another. */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++) {
      next[to] = Math.min(next[to - 1] + 1, row[to] + 1, row[to - 1] + Number(one[at - 1] !== other[to - 1]));
    }
    row = next;
  }
  return row[other.length];
}

/** The name that was meant, if one is near. */
function nearest(key, names) {
  const plain = (name) => name.replaceAll("_", "").toLowerCase();
  const given = plain(key);
  const far = (name) => (ELSEWHERE[given] === name ? 0 : distance(given, plain(name)));
  const [best] = [...names].sort((one, other) => far(one) - far(other));
  return best !== undefined && far(best) <= (given.length < 5 ? 1 : 2) ? best : undefined;
}

/**
 * Throws for a name that is none of these; `of` says what has them. A value that is undefined is none. `passes` says of a name whether it may
 * be there all the same, with the name that was perhaps meant.
 */
export function onlyNames(object, names, of, passes) {
  for (const key in object) {
    if (names.includes(key) || readable(key, () => object[key]) === undefined) continue;
    // What a page's old libraries have given to every object is nobody's option.
    if (key in Object.prototype && !Object.hasOwn(object, key)) continue;
    const meant = nearest(key, names);
    if (passes?.(key, meant)) continue;
    const known = meant === undefined ? `It takes ${names.join(", ")}.` : `Did you mean ${meant}?`;
    throw makeError(
      "InvalidArgumentError",
      of ? `${of} has no ${key}. ${known}` : `There is no option ${key} here. ${known}`,
      "",
      {},
    );
  }
}

const lists = new Map();

/**
 * Throws for an option that is none of these. What is no object is refused elsewhere, in words of its own. Gives the options as they are now:
 * they are read later, and the caller may use the object again.
 */
export function checkOptions(options, names = "") {
  if (typeof options !== "object" || options === null || Array.isArray(options)) return options;
  const list = listOf(names);
  const connects = list.includes("provider");
  // One object is often kept for a sandbox's creation and every later call about it, or for a terminal here and the one on the screen.
  const passes = (key, meant) => (connects ? listOf(CREATION).includes(key) : meant === undefined && options.cols && options.rows);
  onlyNames(options, list, undefined, connects || list.includes("cols") ? passes : undefined);
  if (connects && typeof options.provider === "object") onlyNames(options.provider, listOf(PROFILE), "provider");
  const now = {};
  for (const key of Object.keys(options)) now[key] = readable(key, () => options[key]);
  for (const key of ["envs", "metadata"]) if (isRecord(now[key])) now[key] = readable(key, () => ({ ...now[key] }));
  // What it inherits stays within reach.
  return Object.create(options, Object.getOwnPropertyDescriptors(now));
}

function listOf(names) {
  const known = lists.get(names);
  if (known) return known;
  const list = (names.startsWith("=") ? names.slice(1) : CALL + names).trim().split(" ");
  lists.set(names, list);
  return list;
}

/** What refuses already. */
const guarded = new WeakSet();

/** Whether an object is one that the module made for a class, and has not given back. */
export const madeBy = (prototype) => (of) =>
  Object.prototype.isPrototypeOf.call(prototype, of) && Boolean(/** @type {{ __wbg_ptr?: number }} */ (of).__wbg_ptr);

/**
 * Makes members of a class that refuse options which they do not have, and an object that the class has not made: a method that was taken
 * off its object, or an object made with `new`. `run` gets the object and the arguments. Without a `length` it is a getter.
 */
export function guardOf(name, isMade) {
  const methods = METHODS[name];
  return (key, run, length) => {
    const isOurs = !methods || key.startsWith("__");
    const [at, names] = methods?.[key] ?? [];
    const { value } = {
      value(...args) {
        if (isOurs) return run(this, args);
        try {
          if (!isMade(this)) throw unmade(name, key);
          if (at < args.length) args[at] = checkOptions(args[at], names);
          if (Array.isArray(args[0])) args[0] = items(args[0]);
        } catch (error) {
          if (length === undefined || AT_ONCE.includes(key)) throw error;
          return Promise.reject(error);
        }
        // What a getter gives is there, and cannot fail later.
        return length === undefined ? run(this, args) : callFrom(() => run(this, args));
      },
    };
    guarded.add(value);
    if (length === undefined) return { get: value, configurable: true };
    Object.defineProperty(value, "name", { value: key });
    Object.defineProperty(value, "length", { value: length });
    return { value, writable: true, configurable: true };
  };
}

/** The same for what a class has already. */
export function guardClass({ prototype }, name, isMade = madeBy(prototype)) {
  const guard = guardOf(name, isMade);
  for (const [key, { value, get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const run = get ?? value;
    if (/^(constructor|free|toJSON|__.*)$/.test(key) || !run || guarded.has(run)) continue;
    Object.defineProperty(
      prototype,
      key,
      guard(key, (self, args) => run.apply(self, args), get ? undefined : run.length),
    );
  }
}

function unmade(name, key) {
  const made =
    name === "Sandbox"
      ? "Sandboxes are made by Sandbox.create, Sandbox.connect and Sandbox.attach, not by new."
      : `Take it from a sandbox, and leave it on its object: not const { ${key} } = …, and no new ${name}().`;
  return makeError("InvalidArgumentError", `${key} was called without its ${name}.`, made, {});
}
