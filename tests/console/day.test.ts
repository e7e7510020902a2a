// A newcomer's day: a project is cloned from a git server, changed, run, plotted, pushed and taken home, by what the console shows alone.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandHandle, Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { screenshot } from "../support/browser.ts";
import { FIRST_USE_MS, prepareRuntime, runtimeDir } from "../support/runtime.ts";
import { type Console, openConsole } from "./console.ts";
import { type ConsolePage, PHONE } from "./console-page.ts";
import { cell, NotebookPage } from "./notebook-page.ts";

/** The project as its git server has it. */
const SERVER = `
  set -e
  mkdir -p /tmp/git && cd /tmp/git
  git init -q --bare -b main project.git
  git clone -q project.git seed 2>/dev/null && cd seed && git checkout -q -B main
  mkdir data
  printf 'day,rain\\n1,4\\n2,9\\n3,1\\n' > data/rain.csv
  printf '# Rain\\n\\nHow much it *rained*.\\n' > README.md
  printf 'import csv\\n\\nrows = list(csv.DictReader(open("data/rain.csv")))\\nprint("days:", len(rows))\\n' > rain.py
  git add -A && git -c user.name=a -c user.email=a@example.org commit -qm begin && git push -q origin main
  exec git daemon --listen=127.0.0.1 --port=9418 --base-path=/tmp/git --export-all --enable=receive-pack --reuseaddr --verbose`;

let shared: Console;
let page: ConsolePage;
let notebook: NotebookPage;
let sandbox: Sandbox;
let server: CommandHandle;
/** Where the browser puts downloads. */
let downloads: string;

beforeAll(async () => {
  downloads = mkdtempSync(join(tmpdir(), "console-day-"));
  await prepareRuntime();
  shared = await openConsole(["--runtime-dir", runtimeDir]);
  page = shared.first;
  notebook = new NotebookPage(page);
}, FIRST_USE_MS);

afterAll(async () => {
  await server?.kill();
  await sandbox?.close();
  await shared?.close();
  if (downloads) rmSync(downloads, { recursive: true, force: true });
});

/** Types into what has the focus and ends the line. */
async function enter(text: string): Promise<void> {
  await page.page.keyboard.type(text);
  await page.page.keyboard.press("Enter");
}

/** Presses Ctrl and a key. */
async function control(key: "s" | "End"): Promise<void> {
  await page.page.keyboard.down("Control");
  await page.page.keyboard.press(key);
  await page.page.keyboard.up("Control");
}

describe("a newcomer's day", { timeout: 180_000 }, () => {
  test("a sandbox with code cells is started, and a project is cloned in its terminal", async () => {
    const id = await page.createSandbox("code-interpreter-v1");
    const { apiKey, apiUrl, sandboxUrl } = shared.platform.info;
    sandbox = await Sandbox.connect(id, { apiKey, apiUrl, sandboxUrl, timeoutMs: 600_000 });
    server = await sandbox.commands.start(SERVER, { timeoutMs: 0 });
    let said = "";
    for await (const chunk of server) {
      if (chunk.type === "stderr") said += chunk.data;
      if (said.includes("Ready to rumble")) break;
    }
    expect(said).toContain("Ready to rumble");
    // A new terminal has the focus: what is typed goes there.
    await page.terminal(1);
    await enter("git clone git://127.0.0.1/project.git && cd project && ls");
    await page.terminalHas("README.md");
    await page.find("sandbox-tree >>> .row", "project");
    await screenshot(page.page, "day-cloned");
  });

  test("a file of it is opened, edited, saved and run", async () => {
    await page.click("sandbox-tree >>> .row", "project");
    await page.click("sandbox-tree >>> .row", "rain.py");
    await page.find("sandbox-editor >>> .cm-focused");
    await control("End");
    await page.page.keyboard.type('print("rain:", sum(int(row["rain"]) for row in rows))');
    await page.find("sandbox-editor >>> .dirty");
    await control("s");
    await page.find("sandbox-editor >>> .status", "Saved");
    await screenshot(page.page, "day-edited");
    await page.terminal(1);
    await enter("python3 rain.py");
    await page.terminalHas("rain: 14");
  });

  test("a cell plots its data, and the figure comes into the tree and is shown", async () => {
    await notebook.show();
    await notebook.run(
      1,
      [
        "import matplotlib.pyplot as plt, csv",
        'rows = list(csv.DictReader(open("project/data/rain.csv")))',
        'plt.bar([row["day"] for row in rows], [int(row["rain"]) for row in rows])',
        'plt.title("Rain")',
        'plt.savefig("project/rain.png")',
        "plt.show()",
      ].join("\n"),
    );
    await page.until(`window.deepQuery('${cell(1)} >>> sandbox-result >>> img', "")[0]?.naturalWidth > 300`);
    await page.click(`${cell(1)} >>> sandbox-result >>> button`, "Explore the chart");
    await page.find(`${cell(1)} >>> sandbox-chart >>> svg`);
    await screenshot(page.page, "day-plotted");
    await page.click('button[aria-label="Show the files above"]');
    await page.click("sandbox-tree >>> .row", "rain.png");
    await page.find("sandbox-editor >>> .measured", "×");
    await screenshot(page.page, "day-figure");
  });

  test("the work is committed and pushed", async () => {
    await page.terminal(1);
    await enter(
      "git add -A && git -c user.name=me -c user.email=me@example.org commit -qm 'Sum the rain' && git push -q && git status -sb",
    );
    await page.terminalHas("## main...origin/main\n");
    const log = await sandbox.commands.run(["git", "--git-dir=/tmp/git/project.git", "log", "--format=%s", "main"]);
    expect(log.stdout).toBe("Sum the rain\nbegin\n");
  });

  test("the folder and a file are taken home, byte by byte what is in the sandbox", async () => {
    const session = await page.page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", {
      behavior: "allow",
      downloadPath: downloads,
      browserContextId: shared.context.id as string,
    });
    for (const name of ["rain.png", "project"]) {
      await (await page.find("sandbox-tree >>> .row", name)).click({ button: "right" });
      await page.click("sandbox-tree >>> [role=menuitem]", "Download");
    }
    const there = () => readdirSync(downloads).sort().join(" ");
    await expect.poll(there).toBe("project.tar.gz rain.png");
    await page.gone("sandbox-transfers");
    execFileSync("tar", ["-xzf", "project.tar.gz"], { cwd: downloads });
    const names = ["README.md", "rain.py", "rain.png", "data/rain.csv"];
    const sums = await sandbox.commands.run(["sha256sum", ...names], { cwd: "project" });
    const mine = (path: string) =>
      createHash("sha256")
        .update(readFileSync(join(downloads, path)))
        .digest("hex");
    expect(names.map((name) => `${mine(`project/${name}`)}  ${name}\n`).join("")).toBe(sums.stdout);
    expect(mine("rain.png")).toBe(mine("project/rain.png"));
  });

  test("on a phone all of it is still there", async () => {
    await page.turnInto(PHONE);
    await page.terminal(1);
    await page.terminalHas("## main...origin/main");
    await page.click('[role=tab][aria-label="Files"]');
    await page.find("sandbox-editor >>> .measured", "640 × 480");
    await screenshot(page.page, "day-phone");
  });

  test("nothing went wrong in the page", () => {
    expect(page.problems).toEqual([]);
  });
});
