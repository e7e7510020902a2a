// What the runtimes with a file system share: the page's files, and where the platform is.

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** Gives files of a folder. */
export function filesOf(folder, read) {
  return async (path) => {
    const type = TYPES[/\.\w+$/.exec(path)?.[0] ?? ""];
    // URL has resolved dots; what is left of them is encoded, and no name of a file here.
    if (type === undefined || !/^(?:\/[\w.-]+)+$/.test(path)) return new Response("not found", { status: 404 });
    try {
      return new Response(await read(`${folder}${path}`), { headers: { "content-type": type } });
    } catch {
      return new Response("not found", { status: 404 });
    }
  };
}

/** Where the platform is: nothing but a key for E2B itself. */
export function environment({
  AGENT_SANDBOX_API_KEY: apiKey,
  API_URL: apiUrl,
  SANDBOX_URL: sandboxUrl,
  PAGE_SANDBOX_URL: pageSandboxUrl,
}) {
  return { apiKey, apiUrl, sandboxUrl, pageSandboxUrl };
}
