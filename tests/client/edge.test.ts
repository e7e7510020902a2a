// What differs in an edge worker, tried in a process that looks like one. (The real one is tested with the bundlers.)
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const dist = new URL("../../pkg/dist/", import.meta.url).href;

test("an edge worker's fetch gets no field that it rejects", () => {
  const program = `
    globalThis.navigator = { userAgent: "Cloudflare-Workers" };
    const { readFileSync } = await import("node:fs");
    const { init, Sandbox } = await import("${dist}manual.js");
    await init(readFileSync(new URL("${dist}agent_sandbox_web_bg.wasm")));
    const fields = new Set();
    const fetch = async (url, given) => {
      for (const field of Object.keys(given)) fields.add(field);
      return new Response(given.method === "GET" ? "content" : '[{"name":"a","path":"/a"}]');
    };
    const { files, commands } = await Sandbox.attach({ sandboxId: "i1", sandboxUrl: "https://sandbox.test" }, { fetch });
    await files.read("a");
    await files.write("a", new Blob(["x"]).stream());
    await files.getInfo("a");
    await commands.run("x").catch(() => {});
    console.log(JSON.stringify([...fields].sort()));`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  const fields = JSON.parse(printed) as string[];
  expect(fields).toContain("signal");
  for (const field of ["cache", "credentials", "mode"]) expect(fields).not.toContain(field);
});
