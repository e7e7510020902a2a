// Node and Bun: fetch does not read file URLs in Node, so the file is read.
import { readFile } from "node:fs/promises";
import { makeError, setProxyFetch } from "./agent_sandbox_web.js";
import setDefaultSource from "./core.js";

setDefaultSource(async () => await readFile(new URL("./agent_sandbox_web_bg.wasm", import.meta.url)));

/** The part of undici that is needed. */
interface Undici {
  ProxyAgent: new (options: { uri: string; proxyTunnel: boolean }) => object;
  fetch: (url: string, init: object) => Promise<Response>;
}

// Not written out, so that no bundler looks for a package that few have; those that look through constants are told not to.
const UNDICI = "undici";

if (!("Bun" in globalThis)) {
  setProxyFetch((uri) => {
    let opened: Promise<[Undici, object]> | undefined;
    const open = async (): Promise<[Undici, object]> => {
      const undici = (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ UNDICI).catch((cause: unknown) => {
        const message = "The option proxy needs the package undici, which is not installed.";
        throw makeError("InvalidArgumentError", message, "Install it beside this package: npm install undici.", { cause });
      })) as Undici;
      return [undici, new undici.ProxyAgent({ uri, proxyTunnel: true })];
    };
    return async (url, init) => {
      opened ??= open();
      const [undici, dispatcher] = await opened;
      return undici.fetch(url, { ...init, dispatcher });
    };
  });
}

export * from "./core.js";
