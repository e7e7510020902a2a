// The package's face, the same for every runtime: the classes of the WebAssembly module with static methods that load it first.
//
// The classes themselves are exported, not stand-ins, so that `instanceof` holds. Their statics are replaced in place: those that are
// asynchronous wait for the module, and those that have a twin among the instance methods get its name here, since wasm-bindgen cannot
// give one name to both.
import {
  bindFiles,
  bindServer,
  bindTerminals,
  Code,
  Commands,
  Files,
  Network,
  Pty,
  PtyConnection,
  Sandbox,
  ServerCore,
  TerminalSession,
} from "./agent_sandbox_web.js";
import { init, setDefaultSource } from "./loading.js";
import { SandboxPaginator } from "./paginator.js";

export { Sandbox as AsyncSandbox } from "./agent_sandbox_web.js";
export * from "./errors.js";
export * from "./server.js";
export { Code, Commands, Files, init, Network, Pty, Sandbox, SandboxPaginator, TerminalSession };
/** For the entries; `export *` leaves a default out, so it does not become part of the package's face. */
export default setDefaultSource;

// Here and not beside the classes: bundlers leave a file out that only passes exports on.
bindFiles(Files);
bindServer(init, ServerCore);
bindTerminals(TerminalSession, PtyConnection);

type Method = (...args: unknown[]) => unknown;

/** Name of a static in the package: its name in the module. */
const ASYNC_STATICS: [string, string][] = [
  ["create", "create"],
  ["connect", "connect"],
  ["attach", "attach"],
  ["getInfo", "getInfoById"],
  ["kill", "killById"],
  ["killById", "killById"],
  ["setTimeout", "setTimeoutById"],
];

const statics = Sandbox as unknown as Record<string, Method>;
const named = ASYNC_STATICS.map(([name, inModule]) => [name, statics[inModule] as Method] as const);
const { list } = statics as { list: Method };

for (const [, inModule] of ASYNC_STATICS) delete statics[inModule];
for (const [name, method] of named) {
  define(name, async (...args) => {
    await init();
    return method.apply(Sandbox, args);
  });
}
define("list", (options) => {
  const open = async () => {
    await init();
    return list.call(Sandbox, options);
  };
  return new SandboxPaginator(open as never, options as never);
});

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
  Object.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: false });
}
