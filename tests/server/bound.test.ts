// What a client is bound to: its own address, its own token, and nothing that an answer or an argument could turn them to.
import { InvalidArgumentError, SandboxConnectionError, ServerAPIError, ServerClient } from "agent-sandbox-web";
import { expect, test } from "vitest";
import { scriptedServer } from "../support/scripted-server.ts";
import { rejected } from "./support/failures.ts";

const json = { "content-type": "application/json" };

test.each([301, 302, 303, 307, 308])("a redirect with status %d is not followed", async (status) => {
  await using elsewhere = await scriptedServer();
  await using server = await scriptedServer();
  server.on("GET", "/system/info", (exchange) => exchange.answer(status, { location: `${elsewhere.address}/system/info` }));
  server.on("POST", "/shell", (exchange) => exchange.answer(status, { location: `${elsewhere.address}/shell` }));
  const client = new ServerClient(server.address, { token: "secret" });
  await rejected(client.system.info(), ServerAPIError, { code: "E9000", errorType: "BindingRedirect" });
  await rejected(client.process.shell("x"), ServerAPIError, { errorType: "BindingRedirect" });
  expect(elsewhere.requests).toEqual([]);
});

test("the base URL's path and query are part of every request, and names cannot climb out of it", async () => {
  await using server = await scriptedServer();
  server.on("GET", "/gate/x/*", (exchange) => exchange.answer(200, json, "{}"));
  server.on("POST", "/gate/x/*", (exchange) => exchange.answer(200, json, '{"result": 1}'));
  const client = new ServerClient(`${server.address}/gate/x/?key=a%2Bb#top`, { token: "secret", headers: { "x-gate": "1" } });
  await client.files.stat("/a b&c=d#e?f");
  const stat = server.requests.at(-1);
  expect([stat?.path, stat?.query.get("key"), stat?.query.get("path")]).toEqual(["/gate/x/files/stat", "a+b", "/a b&c=d#e?f"]);
  expect(stat?.headers).toMatchObject({ authorization: "Bearer secret", "x-gate": "1" });
  await client.commands.run("%2e%2e");
  expect(server.requests.at(-1)?.path).toBe("/gate/x/commands/%2e%2e");
  const before = server.requests.length;
  for (const name of ["..", ".", "", "a/b", "../files", "a\\b", "a b", "\n"])
    await rejected(client.commands.run(name), InvalidArgumentError);
  for (const name of ["..", "../../x", ""]) await rejected(client.pty.get(name), InvalidArgumentError);
  expect(server.requests.length).toBe(before);
});

test("a bad address or option is refused at once, and never repeated", () => {
  for (const url of ["", "nonsense", "ftp://x", "127.0.0.1:9000", "http://user:geheim@x/", undefined as never]) {
    let error: unknown;
    try {
      new ServerClient(url);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect(String(error)).not.toContain("geheim");
  }
  expect(() => new ServerClient("http://x", "options" as never)).toThrow(InvalidArgumentError);
  expect(() => new ServerClient("http://x", { ptyUrl: "nonsense" })).toThrow(InvalidArgumentError);
});

test("headers that no request can carry are refused before any", async () => {
  await using server = await scriptedServer();
  for (const headers of [{ "x gate": "1" }, { "": "1" }, { "x-gate": "geheim\0x-other" }, { "x-gate": "geheim\nx-other: 1" }]) {
    const error = await rejected(new ServerClient(server.address, { headers }).system.info(), InvalidArgumentError);
    expect(error.message).toBe("headers holds a name or a value that no header can carry.");
  }
  expect(server.requests).toEqual([]);
});

test("tokens are in no log line and no error", async () => {
  const lines: string[] = [];
  const log = (message: string, more?: Record<string, unknown>) => void lines.push(message + JSON.stringify(more));
  await using server = await scriptedServer();
  server.on("GET", "/system/info", (exchange) => exchange.answer(500, json, '{"error": "no", "type": "OSError"}'));
  const client = new ServerClient(`${server.address}?k=query-secret`, { token: "token-secret", logger: { debug: log, warn: log } });
  const error = await rejected(client.system.info(), ServerAPIError);
  const lost = await rejected(
    new ServerClient("http://127.0.0.1:9?k=query-secret", { token: "token-secret" }).process.shell("x"),
    SandboxConnectionError,
  );
  expect(lines.length).toBeGreaterThan(0);
  expect([...lines, String(error), JSON.stringify(error), String(lost), JSON.stringify(lost)].join()).not.toMatch(/secret/);
});

test("pages of proxies do not become messages", async () => {
  await using server = await scriptedServer();
  server.on("POST", "/shell", (exchange) =>
    exchange.answer(502, { "content-type": "text/html" }, `<html><body>${"x".repeat(9000)}`),
  );
  const error = await rejected(new ServerClient(server.address).process.shell("x"), ServerAPIError, {
    statusCode: 502,
    errorType: "",
  });
  expect(error.message).toBe("Server returned HTTP 502");
  server.on("POST", "/shell", (exchange) => exchange.answer(200, { "content-type": "text/html" }, "<html>"));
  await rejected(new ServerClient(server.address).process.shell("x"), ServerAPIError, {
    statusCode: 200,
    errorType: "ProtocolError",
  });
});

test("only reading calls are repeated", async () => {
  await using server = await scriptedServer();
  let failures = 2;
  server.on("GET", "/system/info", (exchange) => (failures-- > 0 ? exchange.cut() : exchange.answer(200, json, "{}")));
  server.on("POST", "/files/mkdir", (exchange) => exchange.cut());
  server.on("DELETE", "/files", (exchange) => exchange.cut());
  const client = new ServerClient(server.address);
  expect(await client.system.info()).toEqual({});
  const before = server.requests.length;
  await rejected(client.files.mkdir("/x"), SandboxConnectionError, { code: "E5001" });
  await rejected(client.files.delete("/x"), SandboxConnectionError);
  expect(server.requests.length).toBe(before + 2);
});
