// What is different in a page: connections are few, errors of gateways are hidden, every header may cost a preflight, and reads may be stale.
import type { CommandHandle, Sandbox, TerminalSession } from "agent-sandbox-web";
import { assert } from "chai";
import { text } from "../support/bytes.ts";
import { rejected, SECRETS, START, sceneSandbox, withSandbox } from "../support/sandboxes.ts";
import { json, Scene, write } from "../support/scene.ts";
import { suite } from "../support/suite.ts";
import { data, end, endOfStream, entry, start } from "../support/wire.ts";

const PROTO = { "content-type": "application/connect+proto" };
const held = { headers: PROTO, steps: [write(start(), data("stdout", "one")), { hold: true as const }] };
const stat = json({ entry: entry("/a") });

/** Headers that a browser sets by itself. */
const BROWSERS_OWN =
  /^(accept|accept-encoding|accept-language|cache-control|connection|content-length|host|origin|pragma|referer|user-agent|sec-.*)$/;
const own = (headers: Record<string, string>) =>
  Object.keys(headers)
    .filter((name) => !BROWSERS_OWN.test(name))
    .sort();

export const page = suite("page", (test) => {
  test.inPage("a gateway's error without CORS headers is 'unreachable or not running'", async (context) => {
    const { sandbox, scene } = await sceneSandbox(context, [
      { path: "", answers: [{ status: 502, cors: false, steps: [{ text: "gone" }] }] },
    ]);
    for (const call of [() => sandbox.commands.run("x"), () => sandbox.files.read("a"), () => sandbox.commands.list()]) {
      const error = await rejected(call(), context.sdk.UnreachableError, "E5004");
      assert.match(error.message, /unreachable|not running/i);
    }
    await rejected(sandbox.isRunning(), context.sdk.UnreachableError, "E5004");
    await scene.close();
  });

  test.inPage("with an API key the control plane tells why a gateway's answer could not be read", async (context) => {
    const scene = await Scene.open(context.scripted, [
      { path: "/sandboxes/itest", answers: [json({ code: 404, message: "no such sandbox" }, 404)] },
      { path: "", answers: [{ status: 502, cors: false }] },
    ]);
    const sandbox = await context.sdk.Sandbox.attach(
      { sandboxId: "itest", sandboxUrl: `${scene.url}/s/{sandboxId}/{port}`, envdVersion: "0.6.13" },
      { apiUrl: scene.url, apiKey: SECRETS.apiKey, validateApiKey: false },
    );
    await rejected(sandbox.commands.run("x"), context.sdk.SandboxNotFoundError, "E2009");
    assert.isFalse(await sandbox.isRunning());
    await scene.close();
  });

  test.inPage(
    "on http a page opens four streams a host; one more is refused with a reason, and calls still work",
    async (context) => {
      const { sandbox, scene } = await sceneSandbox(context, [
        { path: START, answers: [held] },
        { path: "/Stat", answers: [stat] },
      ]);
      const open: CommandHandle[] = [];
      for (let i = 0; i < 4; i++) open.push(await sandbox.commands.start("x"));
      const error = await rejected(sandbox.commands.start("x"), context.sdk.SandboxError);
      assert.match(`${error.message} ${error.suggestion}`, /connection|stream/i);
      assert.isTrue(await sandbox.files.exists("a"), "a call gets through beside four streams");
      await open.pop()?.disconnect();
      await scene.until((seen) => seen.some(({ path, aborted }) => path.endsWith(START) && aborted), "one stream ends");
      open.push(await sandbox.commands.start("x"));
      await Promise.all(open.map((handle) => handle.disconnect()));
      await scene.close();
    },
  );

  test.inPage("a file is read fresh though the server lets it be cached", async (context) => {
    const cached = (content: string) => ({ headers: { "cache-control": "max-age=600", etag: '"1"' }, steps: [{ text: content }] });
    const { sandbox, scene } = await sceneSandbox(context, [
      { path: "/files", answers: [cached("one"), cached("two"), cached("three")] },
    ]);
    assert.equal(await sandbox.files.read("a"), "one");
    assert.equal(text(await sandbox.files.readBytes("a")), "two");
    assert.equal(await sandbox.files.read("a"), "three");
    await scene.close();
  });

  test("each request has only the headers it needs, on a path platform", async (context) => {
    const { sandbox, scene } = await sceneSandbox(context, [
      { path: START, answers: [{ headers: PROTO, steps: [write(start(), end(), endOfStream())] }] },
      { path: "/Stat", answers: [stat] },
      { path: "/files", method: "GET", answers: [{ steps: [{ text: "content" }] }] },
      { path: "/files", method: "POST", answers: [{ steps: [{ text: '[{"name":"a","path":"/a","type":"file"}]' }] }] },
    ]);
    await sandbox.commands.run("x");
    await sandbox.files.getInfo("a");
    await sandbox.files.read("a");
    await sandbox.files.write("a", "content");
    const allowed = ["connect-protocol-version", "connect-timeout-ms", "content-type", "keepalive-ping-interval", "x-access-token"];
    const seen = await scene.seen();
    assert.lengthOf(seen, 4);
    for (const { path, headers } of seen) {
      assert.isTrue(path.startsWith("/s/itest/49983/"), path);
      const extra = own(headers).filter((name) => !allowed.includes(name));
      if (context.runtime === "page") assert.deepEqual(extra, [], path);
      else
        assert.deepEqual(
          extra.filter((name) => /^(e2b|agentbox|authorization|x-)/.test(name)),
          [],
          path,
        );
    }
    // A browser would ask first for each header of a read; a signature needs none.
    if (context.runtime === "page")
      assert.deepEqual(own(seen.find(({ path, method }) => method === "GET" && path.endsWith("/files"))?.headers ?? {}), []);
    await scene.close();
  });

  test("without placeholders in its URL every request carries what routing needs", async (context) => {
    const { sandbox, scene } = await sceneSandbox(
      context,
      [
        { path: START, answers: [{ headers: PROTO, steps: [write(start(), end(), endOfStream())] }] },
        { path: "/Stat", answers: [stat] },
        { path: "/files", method: "GET", answers: [{ steps: [{ text: "content" }] }] },
        { path: "/files", method: "POST", answers: [{ steps: [{ text: '[{"name":"a","path":"/a","type":"file"}]' }] }] },
        { path: "/health", answers: [{ status: 204 }] },
      ],
      { path: "" },
    );
    await sandbox.commands.run("x");
    await sandbox.files.getInfo("a");
    await sandbox.files.read("a");
    await sandbox.files.write("a", "content");
    assert.isTrue(await sandbox.isRunning());
    const seen = await scene.seen();
    assert.lengthOf(seen, 5);
    for (const { path, headers } of seen) {
      assert.equal(headers["e2b-sandbox-id"], "itest", path);
      assert.equal(headers["e2b-sandbox-port"], "49983", path);
    }
    await scene.close();
  });

  test("the control plane gets the key and nothing that a browser would have to ask for", async (context) => {
    const scene = await Scene.open(context.scripted, [
      { path: "/sandboxes/i1", answers: [json({ code: 404, message: "no" }, 404)] },
    ]);
    const options = { apiUrl: scene.url, apiKey: SECRETS.apiKey, validateApiKey: false };
    await rejected(context.sdk.Sandbox.getInfo("i1", options), context.sdk.SandboxNotFoundError);
    await context.sdk.Sandbox.kill("i1", options);
    for (const { headers, url } of await scene.seen()) {
      assert.equal(headers["x-api-key"], SECRETS.apiKey);
      assert.notInclude(url, SECRETS.apiKey);
      if (context.runtime === "page") assert.deepEqual(own(headers), ["x-api-key"]);
    }
    await scene.close();
  });

  test.inPage("[platform] twelve terminals in a page: typing and listing files still work", async (context) => {
    await withSandbox(context, async (sandbox: Sandbox) => {
      const terminals: TerminalSession[] = [];
      for (let i = 0; i < 12; i++) terminals.push(await sandbox.getTerminal());
      for (const [i, terminal] of terminals.entries()) {
        await terminal.send(`echo terminal-$((${i} + 100))\r`);
        let output = "";
        while (!output.includes(`terminal-${i + 100}`)) {
          const chunk = await terminal.receive(60_000);
          assert.isDefined(chunk, `terminal ${i} answers; it showed ${output}`);
          output += text(chunk ?? new Uint8Array());
        }
      }
      await sandbox.files.write("a", "x");
      assert.equal(await sandbox.files.read("a"), "x");
      assert.isTrue((await sandbox.files.list(".")).some(({ name }) => name === "a"));
      await Promise.all(terminals.map((terminal) => terminal.close()));
    });
  });
});
