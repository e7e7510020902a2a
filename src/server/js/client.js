// The SandboxServer's client as callers hold it. Each of its methods is a row of a table: the endpoint, the names of the arguments, and
// what becomes of the answer. Requests are made in WebAssembly, which is loaded by the first of them.
import { makeError } from "../../js/errors.js";
import { checkOptions, SERVER } from "../../js/options.js";
import { camel } from "./answers.js";
import { capabilitiesOf } from "./capabilities.js";
import { ServerFiles } from "./files.js";
import { ServerBrowser, ServerCommands, ServerDevtools, ServerSystem } from "./groups.js";
import { define, ENDPOINT_METHODS, fields, Link } from "./link.js";
import { ServerProcesses } from "./processes.js";
import { ServerPty } from "./terminals.js";

export { ServerCapabilities } from "./capabilities.js";
export { ServerFiles } from "./files.js";
export { ServerBrowser, ServerCommands, ServerDevtools, ServerSystem } from "./groups.js";
export { bindServer } from "./link.js";
export { ServerProcesses } from "./processes.js";
export { bindTerminals, openTerminal, ServerPty } from "./terminals.js";

export const DEFAULT_SERVER_PORT = 9000;
export const DEFAULT_PTY_PORT = 9001;

const asyncDispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");

/** What a client was made from, when it was not made by a caller. */
class Origin {
  constructor(open) {
    this.open = open;
  }
}

export class ServerClient {
  #url;
  #options;
  #origin;
  #link;
  #groups;

  constructor(baseUrl, options, origin) {
    const given = fields(options);
    if (!(origin instanceof Origin)) checkOptions(given, SERVER);
    const base = urlParts("baseUrl", baseUrl, ["http:", "https:"]);
    const pty = ptyParts(given.ptyUrl, base.url);
    this.#url = baseUrl;
    this.#options = given;
    this.#origin = origin instanceof Origin ? origin : undefined;
    this.#link = new Link((Core) => {
      const args = [base.plain, base.query, pty?.plain, pty?.query ?? "", given];
      return this.#origin ? this.#origin.open(args) : new Core(args);
    });
    const link = this.#link;
    this.#groups = {
      files: new ServerFiles(link),
      process: new ServerProcesses(link),
      pty: new ServerPty(link),
      system: new ServerSystem(link),
      devtools: new ServerDevtools(link),
      browser: new ServerBrowser(link),
      commands: new ServerCommands(link),
    };
  }

  static get ENDPOINT_METHODS() {
    return ENDPOINT_METHODS;
  }

  get baseUrl() {
    return this.#url;
  }

  get files() {
    return this.#groups.files;
  }

  get process() {
    return this.#groups.process;
  }

  get pty() {
    return this.#groups.pty;
  }

  get system() {
    return this.#groups.system;
  }

  get devtools() {
    return this.#groups.devtools;
  }

  get browser() {
    return this.#groups.browser;
  }

  get commands() {
    return this.#groups.commands;
  }

  get capabilities() {
    return this.#link.capabilities;
  }

  async health(options) {
    try {
      const { status } = await (await this.#link.core()).call("health", fields(options));
      return status === "ok";
    } catch (error) {
      if (options?.signal?.aborted) throw error;
      return false;
    }
  }

  async discover(options) {
    const wire = await (await this.#link.core()).call("capabilities", fields(options));
    const { understood, capabilities } = capabilitiesOf(wire, (endpoint, check) => this.check(endpoint, check));
    this.#link.capabilities = capabilities;
    if (understood) return capabilities;
    throw makeError(
      "ServerAPIError",
      "The server's capabilities are of another API version than 2, or incomplete.",
      "Use a server that this package knows; forgetDiscovery() lets calls through unasked.",
      { statusCode: 200, errorType: "ProtocolError", errorCode: "", endpoint: "capabilities", rule: "" },
    );
  }

  forgetDiscovery() {
    this.#link.capabilities = undefined;
  }

  async check(endpoint, options) {
    return camel(await this.#link.call("capabilities_check", fields(options, { endpoint })));
  }

  withToken(token) {
    return new ServerClient(this.#url, { ...this.#options, token }, this.#origin);
  }

  async close() {
    await this.#link.closeAll();
  }

  [asyncDispose]() {
    return this.close();
  }
}

define(ServerClient, "", { health: "health", discover: "capabilities", check: "capabilities_check" });
for (const methods of Object.values(ENDPOINT_METHODS)) Object.freeze(methods);
Object.freeze(ENDPOINT_METHODS);

/** A URL that requests can be made from: what stands in front of paths, and its own query. What is wrong is told without repeating it. */
function urlParts(name, text, schemes) {
  const wrong = (what) => makeError("InvalidArgumentError", `${name} ${what}`, "", {});
  let url;
  try {
    url = new URL(text);
  } catch {
    throw wrong("must be a whole URL, such as http://127.0.0.1:9000.");
  }
  if (!schemes.includes(url.protocol)) throw wrong(`must begin with ${schemes.join(" or ")}`);
  if (url.username || url.password) throw wrong("must not hold a user name or password: give a token.");
  return {
    url,
    plain: url.origin === "null" ? `${url.protocol}//${url.host}${path(url)}` : url.origin + path(url),
    query: url.search.slice(1),
  };
}

function path(url) {
  return url.pathname.replace(/\/+$/, "");
}

/** Where terminals are: as given, or beside the base URL. */
function ptyParts(given, base) {
  if (given !== undefined) {
    const pty = urlParts("ptyUrl", given, ["ws:", "wss:", "http:", "https:"]);
    return { plain: pty.plain.replace(/^http/, "ws").replace(/\/pty$/, ""), query: pty.query };
  }
  const url = new URL(base);
  const [http, pty] = [DEFAULT_SERVER_PORT, DEFAULT_PTY_PORT].map(String);
  if (url.port === http) url.port = pty;
  else if (url.hostname.startsWith(`${http}-`)) url.hostname = pty + url.hostname.slice(http.length);
  else if (path(url).endsWith(`/${http}`)) url.pathname = path(url).slice(0, -http.length) + pty;
  else return undefined;
  return { plain: (url.origin + path(url)).replace(/^http/, "ws"), query: url.search.slice(1) };
}

/** A client of a sandbox's server. */
export function serverOf(origin, url, ptyUrl, options) {
  return new ServerClient(url, fields(options, { ptyUrl }), new Origin((args) => origin.open(args)));
}

/**
 * The last line of a server's log, undefined when every line is empty; without the values that a caller gave and nobody else should see: of
 * the token, of variables, of tokens in a policy.
 */
export function lastWords(log, options) {
  const { token, envs, policy } = options ?? {};
  const line = log.trimEnd().split("\n").at(-1).trim();
  if (!line) return undefined;
  const secrets = [token, ...Object.values(envs ?? {})];
  JSON.stringify(policy?.auth, (_, value) => {
    if (typeof value === "string") secrets.push(value);
    return value;
  });
  const said = line.replace(/^agent-sandbox-server: /, "");
  return (
    secrets
      .filter((one) => typeof one === "string" && one !== "")
      .reduce((text, one) => text.replaceAll(one, "…"), said)
      // Whoever quotes it goes on behind it.
      .replace(/\.+$/, "")
  );
}

/** Whether a server answers; without waiting long, since it is asked again. */
export function isHealthy(client) {
  return client.health({ requestTimeoutMs: 5000 });
}

export async function runCommand(client, name, args, options) {
  if (typeof name === "string" && /\s/.test(name)) {
    throw makeError(
      "InvalidArgumentError",
      "run calls a named command, and no name has spaces.",
      "For a command line use sandbox.commands.run().",
      {},
    );
  }
  return client.commands.run(name, args, fields(options, { serverPort: undefined }));
}

export async function listCommands(client, options) {
  return client.commands.list(fields(options, { serverPort: undefined }));
}
