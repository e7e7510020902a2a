// What a server offers to a client's identity, as it was when asked.
import { makeError } from "../../js/errors.js";

/** Builds one; not for users of the package. */
const KEY = Symbol("ServerCapabilities");

export class ServerCapabilities {
  #wire;
  #check;

  constructor(key, wire, check) {
    if (key !== KEY) throw makeError("InvalidArgumentError", "ServerCapabilities come from ServerClient.discover().", "", {});
    this.#wire = wire;
    this.#check = check;
  }

  get apiVersion() {
    return this.#wire.api_version;
  }

  get serverVersion() {
    return this.#wire.server_version ?? "";
  }

  get identityId() {
    return this.#wire.identity?.id ?? "";
  }

  get scopes() {
    return new Set(this.#wire.identity?.scopes);
  }

  get preset() {
    return this.#wire.policy?.preset ?? "";
  }

  get revision() {
    return this.#wire.policy?.revision ?? "";
  }

  get configured() {
    return this.#wire.policy?.configured === true;
  }

  get warnings() {
    return [...(this.#wire.warnings ?? [])];
  }

  get groups() {
    return { ...this.#wire.groups };
  }

  get groupSummary() {
    return { ...this.#wire.group_summary };
  }

  #entry(endpoint) {
    const { endpoints } = this.#wire;
    return Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined;
  }

  can(endpoint) {
    const entry = this.#entry(endpoint);
    return entry?.enabled === true && entry.allowed === true;
  }

  denial(endpoint) {
    const entry = this.#entry(endpoint);
    if (entry === undefined) return "unknown_endpoint";
    if (this.can(endpoint)) return undefined;
    return entry.reason ?? (entry.enabled ? "missing_scope" : "endpoint_disabled");
  }

  rule(endpoint) {
    return this.#entry(endpoint)?.rule ?? undefined;
  }

  require(endpoint) {
    const denial = this.denial(endpoint);
    if (denial === undefined) return this.info(endpoint);
    const details = { errorCode: denial, endpoint, rule: this.rule(endpoint) ?? "" };
    if (denial === "missing_scope") {
      const needed = this.#entry(endpoint).scopes ?? [];
      throw makeError(
        "PolicyDeniedError",
        `The endpoint ${endpoint} needs the scopes ${needed.join(", ")}; this token holds ${[...this.scopes].join(", ") || "none"}.`,
        "",
        { ...details, statusCode: 403, errorType: "PolicyDenied", scope: needed[0] ?? "" },
      );
    }
    throw makeError("EndpointNotAvailableError", `The server does not offer the endpoint ${endpoint}: ${denial}.`, "", {
      ...details,
      statusCode: 404,
      errorType: "",
      capability: endpoint,
    });
  }

  info(endpoint) {
    const entry = this.#entry(endpoint);
    if (entry === undefined) return undefined;
    const { method = "", path = "", group = "", summary = "", streaming = false, scopes = [], limits = {}, params = {} } = entry;
    const info = {
      name: endpoint,
      method,
      path,
      group,
      summary,
      streaming,
      enabled: entry.enabled === true,
      allowed: entry.allowed === true,
    };
    if (entry.reason) info.reason = entry.reason;
    if (entry.rule) info.rule = entry.rule;
    const paths = this.paths(endpoint);
    return { ...info, scopes: [...scopes], limits: { ...limits }, params: { ...params }, ...(paths ? { paths } : {}) };
  }

  limit(endpoint, key, fallback) {
    return this.#entry(endpoint)?.limits?.[key] ?? fallback;
  }

  param(endpoint, key, fallback) {
    return this.#entry(endpoint)?.params?.[key] ?? fallback;
  }

  paths(endpoint) {
    const paths = this.#entry(endpoint)?.paths;
    if (!paths) return undefined;
    const { allow = [], read_only = false, deny_count = 0, symlinks = "within" } = paths;
    return { allow: [...allow], readOnly: read_only, denyCount: deny_count, symlinks };
  }

  endpointsFor(scope) {
    return this.#ids((entry) => entry.scopes?.includes(scope));
  }

  available() {
    return this.#ids((_, id) => this.can(id));
  }

  #ids(wanted) {
    return Object.entries(this.#wire.endpoints)
      .filter(([id, entry]) => wanted(entry, id))
      .map(([id]) => id)
      .sort();
  }

  checkPath(endpoint, path, op, options) {
    return this.#check(endpoint, { ...options, path, op });
  }
}

/** What a document says; an empty one when it is of another kind, so that nothing is taken for allowed. */
export function capabilitiesOf(wire, check) {
  const { api_version, endpoints } = wire;
  const understood = api_version === 2 && typeof endpoints === "object" && endpoints !== null && !Array.isArray(endpoints);
  return { understood, capabilities: new ServerCapabilities(KEY, understood ? wire : { api_version, endpoints: {} }, check) };
}
