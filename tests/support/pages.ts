/** A web server for test pages, on a port of its own. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { type Listening, listen } from "./listen.ts";

const types: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".map": "application/json",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** What to serve: URL prefixes to folders, and exact URL paths to texts. */
export interface Pages {
  /** For example `{ "/pkg/": "<repository>/pkg/dist" }`. */
  folders?: Record<string, string>;
  /** For example `{ "/": "<!doctype html>…" }`. */
  texts?: Record<string, string>;
  /** Headers of every answer, such as a Content-Security-Policy. */
  headers?: Record<string, string>;
  /** Receives what pages post, by URL path. */
  posted?: (path: string, body: string) => void;
}

/** Serves test pages under `http://localhost:PORT` (loopback, a secure context). */
export async function servePages(pages: Pages): Promise<Listening> {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const answer = (status: number, type: string, body: string | Buffer) => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store", ...pages.headers });
      response.end(body);
    };
    if (request.method === "POST" && pages.posted) {
      pages.posted(path, Buffer.concat(await request.toArray()).toString());
      return answer(204, "text/plain", "");
    }
    const text = pages.texts?.[path];
    if (text !== undefined) return answer(200, types[extname(path)] ?? "text/html; charset=utf-8", text);
    const prefix = Object.keys(pages.folders ?? {}).find((prefix) => path.startsWith(prefix));
    const folder = prefix === undefined ? undefined : pages.folders?.[prefix];
    if (prefix === undefined || folder === undefined) return answer(404, "text/plain", "no such page");
    try {
      const file = join(folder, normalize(`/${path.slice(prefix.length)}`));
      answer(200, types[extname(file)] ?? "application/octet-stream", await readFile(file));
    } catch {
      answer(404, "text/plain", "no such file");
    }
  });
  return listen(server);
}
