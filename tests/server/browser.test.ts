// The browser's endpoints. The server answers one call after its start where Playwright is installed (quirk 28) and 503 where it is not. So
// each endpoint is the first call of a fresh server once, with a real browser; that all fields are sent and read is seen with a scripted
// server that gives the real one's answers.
import { CommandTimeoutError, ServerAPIError, ServerClient } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { servePages } from "../support/pages.ts";
import { scriptedServer } from "../support/scripted-server.ts";
import { rejected } from "./support/failures.ts";
import { withBrowser } from "./support/playwright.ts";
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

describe("with a real browser", () => {
  let browser: ReturnType<typeof withBrowser>;
  // The first time, Playwright is downloaded.
  beforeAll(() => {
    browser = withBrowser();
  }, 600_000);
  afterAll(() => browser?.remove());

  const png = [0x89, 0x50, 0x4e, 0x47];
  const blank = { url: "about:blank", title: "" };

  /** What is first called, what comes of it, what is called then. The browser begins with an empty page. */
  const FIRST: [string, Call, (result: unknown) => void, Call][] = [
    [
      "screenshot",
      ({ browser }) => browser.screenshot(),
      (picture) => expect([...(picture as Uint8Array).slice(0, 4)]).toEqual(png),
      ({ browser }) => browser.content(),
    ],
    [
      "content",
      ({ browser }) => browser.content("html"),
      (page) => expect(page).toEqual({ ...blank, content: "<html><head></head><body></body></html>" }),
      ({ browser }) => browser.screenshot(),
    ],
    [
      "click",
      ({ browser }) => browser.click("html", { timeoutMs: 20_000, requestTimeoutMs: 60_000 }),
      (done) => expect(done).toEqual({ clicked: true, selector: "html" }),
      ({ browser }) => browser.type("html", "x"),
    ],
    [
      "type",
      ({ browser }) => browser.type("html", "ü", { delayMs: 1 }),
      (done) => expect(done).toEqual({ typed: true, selector: "html", text: "ü" }),
      ({ browser }) => browser.click("html"),
    ],
    [
      "evaluate",
      ({ browser }) => browser.evaluate("[1 + 1, NaN, undefined, 'ü']", { requestTimeoutMs: 60_000 }),
      (result) => expect(result).toEqual([2, Number.NaN, null, "ü"]),
      ({ browser }) => browser.pdf(),
    ],
    [
      "pdf",
      ({ browser }) => browser.pdf({ landscape: true }),
      (pdf) => expect(new TextDecoder().decode((pdf as Uint8Array).slice(0, 4))).toBe("%PDF"),
      ({ browser }) => browser.evaluate("1"),
    ],
  ];

  test.each(FIRST)("%s succeeds as the first call, and every other then fails", async (_, call, check, next) => {
    await using server = await startServer(browser.options);
    const client = server.client({ timeoutMs: 60_000 });
    check(await call(client));
    const { errorType } = await rejected(next(client), ServerAPIError, { statusCode: 500 });
    // Playwright's objects belong to the thread of the first call. Which of the two tells so depends on whether that thread has ended.
    expect(errorType).toMatch(/^(TargetClosedError|error)$/);
    expect(await client.browser.console()).toEqual([]);
  });

  test("navigate goes to a page, and console gives what it said", async () => {
    const pages = await servePages({ texts: { "/": "<title>Seite</title><script>console.log('hallo')</script>" } });
    await using server = await startServer(browser.options);
    const client = server.client({ timeoutMs: 60_000 });
    const url = `http://page.test:${new URL(pages.url).port}/`;
    expect(await client.browser.navigate(url, { waitUntil: "load", requestTimeoutMs: 60_000 })).toEqual({
      url,
      title: "Seite",
      status: 200,
    });
    expect((await client.browser.console())[0]).toMatchObject({ type: "log", text: "hallo" });
    await rejected(client.browser.navigate(url), ServerAPIError, { statusCode: 500 });
    await pages.close();
  });

  test("what is not there is an error of its own kind", async () => {
    await using one = await startServer(browser.options);
    await rejected(one.client().browser.click("#none", { timeoutMs: 100, requestTimeoutMs: 60_000 }), CommandTimeoutError, {
      code: "E3001",
    });
    await using other = await startServer(browser.options);
    await rejected(other.client().browser.screenshot({ selector: "#none", requestTimeoutMs: 60_000 }), ServerAPIError, {
      statusCode: 404,
    });
  });
});
