/** Whether a page can be used with a screen reader, as far as a program can tell. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "puppeteer-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * What axe-core finds in a page, each with the elements it is about.
 * @param exclude what is not the page's own, as paths through shadow trees
 */
export async function accessibilityFindings(page: Page, exclude: readonly (readonly string[])[] = []): Promise<string[]> {
  // The page's policy lets no script of ours in: the tool that drives the browser may all the same.
  await page.evaluate(axe);
  return page.evaluate(
    async (exclude) => {
      interface Axe {
        run(context: unknown): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
      }
      const { violations } = await (window as unknown as { axe: Axe }).axe.run({ include: [document.documentElement], exclude });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
    },
    exclude.map((path) => ({ fromShadowDom: path })),
  );
}
