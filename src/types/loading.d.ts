/**
 * Loads the WebAssembly module. Called by itself on first use; call it to choose the source or the moment.
 * Calls at the same time load once; a failed load can be tried again.
 * @param source a URL, a `Response`, the bytes or a compiled module. Default: the file beside the package's own.
 */
export function init(
  source?: string | URL | Request | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module | Promise<Response>,
): Promise<void>;
