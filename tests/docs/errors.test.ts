// The page that errors lead to says of each class what the class itself says.
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

type ErrorClass = { new (message: string): { docsUrl: string }; className: string; code: string; suggestion: string };

const page = await readFile(new URL("../../docs/errors.md", import.meta.url), "utf8");
const isErrorClass = (value: unknown): value is ErrorClass => typeof value === "function" && "code" in value;
const errors: Record<string, unknown> = await import(new URL("../../src/js/errors.js", import.meta.url).href);
const classes = Object.values(errors).filter(isErrorClass);

test("the page of errors has one row for each class, with its code, its parent and its suggestion", () => {
  const rows = [...page.matchAll(/^\| <a id="(.+?)"><\/a>(.+?) \| `(.+?)` \| `(.+?)` \| (.+?) \| (.+) \|$/gm)];
  const found = rows.map(([, anchor, code, name, parent, when, suggestion]) => {
    expect(when, code).toMatch(/\S.*\.$/);
    return { anchor, code, name, parent, suggestion };
  });
  const expected = classes.map((one) => {
    const parent = (Object.getPrototypeOf(one) as Partial<ErrorClass>).className ?? "Error";
    return { anchor: one.code.toLowerCase(), code: one.code, name: one.className, parent, suggestion: one.suggestion };
  });
  expected.sort((a, b) => a.code.localeCompare(b.code));
  expect(found).toEqual(expected);
});

test("an error's docsUrl leads to its row", () => {
  for (const one of classes) {
    const [file, anchor] = new one("message").docsUrl.split("#");
    expect(file).toMatch(/\/docs\/errors\.md$/);
    expect(page).toContain(`<a id="${anchor}"></a>${one.code} `);
  }
});
