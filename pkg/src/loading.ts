// When and from where the WebAssembly module is loaded. Importing the package loads nothing: the first call that needs the module
// does, or `init`.
import instantiate, { makeError } from "./agent_sandbox_web.js";

/** What a module can be made from. */
export type Source = string | URL | Request | Response | BufferSource | WebAssembly.Module | Promise<Response>;

/** Gives the source for a module that nobody chose one for. */
export type DefaultSource = () => Source | Promise<Source>;

let defaultSource: DefaultSource | undefined;
let loading: Promise<void> | undefined;

/** Sets where the module comes from when `init` is not told; called by the entry of each runtime. */
export function setDefaultSource(source: DefaultSource): void {
  defaultSource = source;
}

/** Loads the module once. Calls at the same time share one load; a failed one can be tried again. */
export function init(source?: Source): Promise<void> {
  loading ??= load(source).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(source: Source | undefined): Promise<void> {
  if (source === undefined && defaultSource === undefined) {
    throw makeError(
      "InvalidArgumentError",
      "The WebAssembly module is not loaded.",
      "This entry of the package loads nothing by itself: await init(source) before the first call.",
      {},
    );
  }
  try {
    await instantiate(source ?? (await defaultSource?.()));
  } catch (cause) {
    throw makeError(
      "NetworkError",
      "The WebAssembly module could not be loaded.",
      "Serve agent_sandbox_web_bg.wasm beside the package's JavaScript or give its URL to init(); a Content-Security-Policy must allow 'wasm-unsafe-eval'.",
      { cause },
    );
  }
}
