// Links from one page of the repository to another, and to a place in it. `cargo xtask docs` checks the site that is made of them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const folders = ["", "docs/", "docs/guide/", "docs/site/", "local/"];
const pages = folders.flatMap((folder) =>
  readdirSync(new URL(folder, ROOT))
    .filter((name) => name.endsWith(".md"))
    .map((name) => folder + name),
);

/** A page without its code, in which brackets mean other things. */
const prose = (url: URL) => readFileSync(url, "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");

/** The places that a page has: its headings, as GitHub and TypeDoc name them, and what is marked. */
function anchors(page: URL): Set<string> {
  const text = prose(page);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}\p{Mark}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set([...headings, ...[...text.matchAll(/<a id="(.+?)">/g)].map(([, id = ""]) => id)]);
}

test.each(pages)("the links of %s lead somewhere", (name) => {
  const page = new URL(name, ROOT);
  const dead = [...prose(page).matchAll(/\]\((?!\w+:)([^)#]*)(?:#([^)]+))?\)/g)]
    .filter(([, path = "", anchor]) => {
      const target = new URL(path, page);
      return !existsSync(target) || (anchor !== undefined && !anchors(target).has(anchor));
    })
    .map(([link]) => link);
  expect(dead).toEqual([]);
});
