// The browser's endpoints. The server answers one call after its start where Playwright is installed and 503 where it is not, so what
// works is played by a scripted server, from the server's own answers.
import { ServerAPIError, ServerClient } from "agent-sandbox-web";
import { expect, test } from "vitest";
import { scriptedServer } from "../support/scripted-server.ts";
import { rejected } from "./support/failures.ts";
import { startServer } from "./support/server.ts";

type Call = (client: ServerClient) => Promise<unknown>;

/** Method, path, what is sent, what is answered, what comes of it. */
const CALLS: [string, string, string, Call, unknown, string, unknown][] = [
  [
    "browser_navigate",
    "POST",
    "/browser/navigate",
    ({ browser }) => browser.navigate("https://x.test/", { waitUntil: "load", timeoutMs: 1500 }),
    { url: "https://x.test/", wait_until: "load", timeout: 1500 },
    '{"url": "https://x.test/", "title": "X", "status": 200}',
    { url: "https://x.test/", title: "X", status: 200 },
  ],
  [
    "browser_screenshot",
    "POST",
    "/browser/screenshot",
    ({ browser }) => browser.screenshot({ selector: "#a", fullPage: false, format: "jpeg" }),
    { selector: "#a", full_page: false, format: "jpeg" },
    '{"image_base64": "AQID/w==", "width": 1, "height": 1}',
    Uint8Array.of(1, 2, 3, 255),
  ],
  [
    "browser_content",
    "GET",
    "/browser/content",
    ({ browser }) => browser.content("text"),
    undefined,
    '{"content": "c", "url": "u", "title": "t"}',
    { content: "c", url: "u", title: "t" },
  ],
  [
    "browser_click",
    "POST",
    "/browser/click",
    ({ browser }) => browser.click("#a", { timeoutMs: 10 }),
    { selector: "#a", timeout: 10 },
    '{"clicked": true, "selector": "#a"}',
    { clicked: true, selector: "#a" },
  ],
  [
    "browser_type",
    "POST",
    "/browser/type",
    ({ browser }) => browser.type("#a", "ü", { clear: true, delayMs: 5 }),
    { selector: "#a", text: "ü", delay: 5, clear: true },
    '{"typed": true, "selector": "#a", "text": "\\u00fc"}',
    { typed: true, selector: "#a", text: "ü" },
  ],
  [
    "browser_evaluate",
    "POST",
    "/browser/evaluate",
    ({ browser }) => browser.evaluate("x"),
    { script: "x" },
    '{"result": {"snake_case": NaN}}',
    { snake_case: Number.NaN },
  ],
  [
    "browser_pdf",
    "POST",
    "/browser/pdf",
    ({ browser }) => browser.pdf({ format: "A5", landscape: true }),
    { format: "A5", landscape: true },
    '{"pdf_base64": "JVBERg==", "pages": 1}',
    new TextEncoder().encode("%PDF"),
  ],
  [
    "browser_console",
    "GET",
    "/browser/console",
    ({ browser }) => browser.console(),
    undefined,
    '{"logs": [{"type": "log", "text": "a"}]}',
    [{ type: "log", text: "a" }],
  ],
];

test.each(CALLS)("%s sends what is asked and gives what is answered", async (_, method, path, call, sent, answer, expected) => {
  await using server = await scriptedServer();
  server.on(method, path, (exchange) => exchange.answer(200, { "content-type": "application/json" }, answer));
  expect(await call(new ServerClient(server.address))).toEqual(expected);
  const body = String(await (await server.next(method, path)).body);
  expect(body === "" ? undefined : JSON.parse(body)).toEqual(sent);
  server.on(method, path, (exchange) =>
    exchange.answer(500, {}, '{"error": "Playwright connection closed", "type": "TargetClosedError"}'),
  );
  await rejected(call(new ServerClient(server.address)), ServerAPIError, { statusCode: 500, errorType: "TargetClosedError" });
});

test("the real server says 503 without Playwright, and no to local addresses", async () => {
  await using server = await startServer({ groups: ["browser"] });
  const client = server.client();
  for (const [id, , , call] of CALLS) {
    if (id === "browser_console") expect(await call(client)).toEqual([]);
    else await rejected(call(client), ServerAPIError, { statusCode: 503, errorType: "RuntimeError" });
  }
  await rejected(client.browser.navigate("http://127.0.0.1/"), ServerAPIError, { statusCode: 403, errorCode: "url_denied" });
  await rejected(client.browser.navigate("file:///etc/passwd"), ServerAPIError, { statusCode: 400 });
});
