// What the entries use of the glue and the client's own JavaScript, which the build puts beside them as one file; wasm-bindgen's own
// declarations exist only after a build.

// The public types, as the package's build puts them together.
export * from "../dist/index.d.ts";

/** Pages, of whatever they are asked for. */
export class Paginator {
  private constructor();
  readonly hasNext: boolean;
  readonly nextToken: string | undefined;
  nextItems<T>(options: unknown): Promise<T[]>;
}

/** The side of a `ServerClient` that makes requests. */
export class ServerCore {
  private constructor();
}

/** A process as its handles read it. */
export class ProcessHandle {
  private constructor();
}

/** What a stream reads. */
export class Source {
  private constructor();
}

/** Gives the module's classes, by name, their members. */
export function bindMembers(classes: Record<string, unknown>): void;
/** The place of a call. */
export function place(): object;
/** Lets an error of a call lead to where the call was made. */
export function leadTo(error: unknown, here: object): void;
/** Builds an error of the class of that name. */
export function makeError(className: string, message: string, suggestion: string, details: { cause?: unknown }): Error;
/** Names of options; see `src/js/options.js`. */
export const CONNECTION: string;
export const CREATION: string;
/** Throws for an option that is none of these or of those of every call. */
export function checkOptions(options: unknown, names?: string): unknown;
/** Lets a class's methods refuse options that they do not have, and what is not theirs. */
export function guardClass(of: { prototype: object }, name: string): void;
/** Gives files the methods that are JavaScript. */
export function bindFiles(files: unknown): void;
/** Says how the module is loaded, and gives its class for requests. */
export function bindServer(load: () => Promise<void>, core: unknown): void;
/** Makes terminals over WebSocket instances of the first class, and gives the second its asynchronous disposal. */
export function bindTerminals(session: unknown, connection: unknown): void;
/** Says how to make a `fetch` that goes through a proxy. */
export function setProxyFetch(make: (proxy: string) => (url: string, init: object) => Promise<Response>): void;

export default function instantiate(source: unknown): Promise<void>;
