// The package's face, the same for every runtime: the classes of the WebAssembly module with static methods that load it first.
//
// The classes themselves are exported, not stand-ins, so that `instanceof` holds. Their statics are replaced in place by ones that wait for
// the module, and the calls at the control plane, which are one method of the module, get their names here.
import {
  bindFiles,
  bindMembers,
  bindServer,
  bindTerminals,
  CONNECTION,
  Code,
  Commands,
  CREATION,
  checkOptions,
  Files,
  guardClass,
  leadTo,
  makeError,
  Network,
  Paginator,
  ProcessHandle,
  Pty,
  PtyConnection,
  place,
  Sandbox,
  ServerCore,
  Source,
  TerminalSession,
} from "./agent_sandbox_web.js";
import { init, setDefaultSource } from "./loading.js";
import { SandboxPaginator, SnapshotPaginator } from "./paginator.js";

export * from "./classes.js";
export * from "./errors.js";
export * from "./server.js";
export { init, SandboxPaginator, SnapshotPaginator };
/** The states of a sandbox, by name. */
export const SandboxStatus = {
  CREATING: "creating",
  RUNNING: "running",
  PAUSED: "paused",
  STOPPING: "stopping",
  STOPPED: "stopped",
  ERROR: "error",
} as const;
/** For the entries; `export *` leaves a default out, so it does not become part of the package's face. */
export default setDefaultSource;

// Here and not beside the classes: bundlers leave a file out that only passes exports on.
bindMembers({
  Code,
  Commands,
  Files,
  Network,
  Paginator,
  ProcessHandle,
  Pty,
  PtyConnection,
  Sandbox,
  ServerCore,
  Source,
  TerminalSession,
});
bindFiles(Files);
bindServer(init, ServerCore);
bindTerminals(TerminalSession, PtyConnection);

type Method = (...args: unknown[]) => unknown;

/** What a sandbox has for this file alone: its calls at the control plane by their names, and pages of its snapshots. */
const { __make: make, __snapshots: snapshots } = Sandbox.prototype as unknown as { __make: Method; __snapshots: Method };

/** What a call gives once the module is loaded. Its error leads to whoever is calling now. */
async function loaded(call: () => unknown): Promise<unknown> {
  const here = place();
  try {
    await init();
    return await call();
  } catch (error) {
    leadTo(error, here);
    throw error;
  }
}

/** A static member of the module's class, by its number there. */
const fixed =
  (member: number): Method =>
  (...args) =>
    (Sandbox as unknown as { __static(member: number, args: unknown[]): unknown }).__static(member, args);

/** What makes sandboxes, in the order of their numbers: the names of the first two arguments' options, where they are objects. */
const MAKERS: [name: string, first: string | undefined, second: string][] = [
  ["create", CREATION, CREATION],
  ["connect", undefined, `${CONNECTION}timeoutMs`],
  // A server may put fields of its own beside a handoff's.
  ["attach", undefined, CONNECTION],
];

for (const [member, [name, first, second]] of MAKERS.entries()) {
  define(name, async function (this: unknown, ...args) {
    if (typeof this === "function" && this.prototype instanceof Sandbox) throw extended(this.name, name);
    if (first !== undefined) args[0] = checkOptions(args[0], first);
    args[1] = checkOptions(args[1], second);
    return loaded(() => fixed(member)(...args));
  });
}
const callById = fixed(3);

/** What a class that extends `Sandbox` is told: its objects would be none of its own. */
function extended(by: string, maker: string): Error {
  return makeError(
    "InvalidArgumentError",
    `${by}.${maker} would make a Sandbox, not a ${by}.`,
    "Call Sandbox.create, Sandbox.connect or Sandbox.attach, and keep the sandbox in an object of your class instead of extending Sandbox.",
    {},
  );
}

/**
 * Calls about a sandbox: whether an argument stands in front of the options, where the call is (1 by id, 2 at a sandbox), and the names of
 * options of its own.
 */
const CALLS: [name: string, hasArgument: boolean, where: number, options?: string][] = [
  ["kill", false, 3],
  ["getInfo", false, 3],
  ["refreshInfo", false, 2],
  ["isRunning", false, 2],
  ["setTimeout", true, 3],
  ["connect", false, 2, "timeoutMs"],
  ["resume", false, 2, "timeoutMs"],
  ["pause", false, 3, "keepMemory"],
  ["fork", false, 3, "count timeoutMs"],
  ["createSnapshot", false, 3, "name"],
  ["deleteSnapshot", false, 1],
  ["getMetrics", false, 3, "start end"],
  ["logs", false, 3, "start limit direction level search"],
  ["updateNetwork", true, 3],
];

for (const [name, hasArgument, where, names = ""] of CALLS) {
  const split = (args: unknown[], known: string) => {
    const both = hasArgument ? args : [undefined, args[0]];
    return [both[0], checkOptions(both[1], known)];
  };
  if (where & 1) {
    define(name, async (id, ...args) => {
      const [argument, options] = split(args, CONNECTION + names);
      return loaded(() => callById(name, id, argument, options));
    });
  }
  if (where & 2) {
    const isResumption = name === "connect" || name === "resume";
    define(
      name,
      async function (this: unknown, ...args) {
        const [argument, options] = split(args, names);
        const answer = await make.call(this, name, argument, options);
        return isResumption ? this : answer;
      },
      Sandbox.prototype,
    );
  }
}
define("killById", (Sandbox as unknown as Record<string, Method>).kill as Method);

/** Pages whose first one loads the module. */
const paginated = (Pages: typeof SandboxPaginator | typeof SnapshotPaginator, open: Method, names: string) =>
  function (this: unknown, options: unknown) {
    const opened = async () => {
      const given = checkOptions(options, names);
      await init();
      return open.call(this, given);
    };
    return new Pages(opened as never, options as never);
  };
const PAGES = "limit nextToken ";
define("list", paginated(SandboxPaginator, fixed(4), `${CONNECTION}${PAGES}status metadata offset`));
define("listSnapshots", paginated(SnapshotPaginator, fixed(5), `${CONNECTION}${PAGES}sandboxId name`));
define("listSnapshots", paginated(SnapshotPaginator, snapshots, `${PAGES}name`), Sandbox.prototype);

/** Methods of a sandbox that are those of one of its parts, there by another name if one stands here. */
const FORWARDED: [string, "code" | "files" | "network", string?][] = [
  ["runCode", "code", "run"],
  ["getHost", "network"],
  ["getUrl", "network"],
  ["downloadUrl", "files"],
  ["uploadUrl", "files"],
];

for (const [name, part, inPart = name] of FORWARDED) {
  define(
    name,
    function (this: Record<string, Record<string, Method>>, ...args) {
      return this[part]?.[inPart]?.(...args);
    },
    Sandbox.prototype,
  );
}

for (const [Class, name] of [
  [Sandbox, "Sandbox"],
  [Code, "Code"],
  [Commands, "Commands"],
  [Files, "Files"],
  [Network, "Network"],
  [Pty, "Pty"],
  [TerminalSession, "TerminalSession"],
] as const) {
  guardClass(Class, name);
}

/** Further names of members. */
const ALIASES: [object, string, string][] = [
  [Sandbox.prototype, "id", "sandboxId"],
  [Files.prototype, "rename", "move"],
  [Commands.prototype, "sendStdin", "sendInput"],
];

for (const [prototype, alias, name] of ALIASES) {
  Object.defineProperty(prototype, alias, Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor);
}

/** What printing and JSON show of each class: never a pointer into the module, a token or a URL. */
const SHOWN: [{ prototype: object }, string, (of: never) => object][] = [
  [Sandbox, "Sandbox", ({ sandboxId, status, info }: Sandbox) => ({ sandboxId, status, template: info.template })],
  [TerminalSession, "TerminalSession", ({ pid }: TerminalSession) => ({ pid })],
  [Code, "Code", () => ({})],
  [Commands, "Commands", () => ({})],
  [Files, "Files", () => ({})],
  [Network, "Network", () => ({})],
  [Pty, "Pty", () => ({})],
];

type Inspect = (value: unknown, options: unknown) => string;

for (const [{ prototype }, name, show] of SHOWN) {
  define(
    "toJSON",
    function (this: never) {
      return show(this);
    },
    prototype,
  );
  define(
    Symbol.for("nodejs.util.inspect.custom"),
    function (this: never, _depth, options, inspect) {
      return `${name} ${(inspect as Inspect)(show(this), options)}`;
    },
    prototype,
  );
}

function define(name: string | symbol, value: Method, on: object = Sandbox): void {
  if (typeof name === "string" && !value.name) Object.defineProperty(value, "name", { value: name });
  Object.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: false });
}
