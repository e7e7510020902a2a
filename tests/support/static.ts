// Serves a folder on a free port of the loopback interface, and remembers what was asked for.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
  ".css": "text/css",
  ".wasm": "application/wasm",
};

/** A folder that is being served. */
export interface StaticServer {
  origin: string;
  /** The paths that were asked for, in order. */
  requested: string[];
  stop(): Promise<void>;
}

/** Serves `folder`; `headers` go with every answer. */
export async function serveFolder(folder: string, headers: Record<string, string> = {}): Promise<StaticServer> {
  const requested: string[] = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://host").pathname);
    requested.push(path);
    try {
      const file = join(folder, normalize(path.endsWith("/") ? `${path}index.html` : path));
      const content = await readFile(file);
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream", ...headers }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
