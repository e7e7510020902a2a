// A person brings files in and out of a sandbox, moves, searches and edits them while they change underneath.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plainName } from "../../www/elements/names.ts";
import { screenshot } from "../support/browser.ts";
import { type Console, openConsole } from "./console.ts";
import type { ConsolePage } from "./console-page.ts";

/** A name that a shell, a URL or a page would read as something else. */
const HOSTILE = "-e $(touch x) <b>&%20#.txt";

let shared: Console;
let page: ConsolePage;
/** The same sandbox from outside the page. */
let sandbox: Promise<Sandbox>;
/** A folder of the person's own machine. */
let mine: string;

beforeAll(async () => {
  mine = mkdtempSync(join(tmpdir(), "console-files-"));
  mkdirSync(join(mine, "project/deep"), { recursive: true });
  mkdirSync(join(mine, "downloads"));
  writeFileSync(join(mine, "project/readme.md"), "# A project\nneedle here\n");
  writeFileSync(join(mine, "project/deep", HOSTILE), "another Needle\n");
  writeFileSync(join(mine, "notes.txt"), "from my machine\n");
  shared = await openConsole();
  page = shared.first;
  const { apiKey, apiUrl, sandboxUrl } = shared.platform.info;
  const id = await page.createSandbox();
  sandbox = Sandbox.connect(id, { apiKey, apiUrl, sandboxUrl, timeoutMs: 600_000 });
}, 120_000);

afterAll(async () => {
  await (await sandbox)?.close();
  await shared?.close();
  rmSync(mine, { recursive: true, force: true });
});

/** Drops files, made in the page, onto the tree or a row of it. */
async function drop(onto: string, text: string, files: Record<string, string>): Promise<void> {
  const target = await page.find(onto, text);
  await target.evaluate((target, files) => {
    const data = new DataTransfer();
    for (const [name, content] of Object.entries(files)) data.items.add(new File([content], name));
    for (const type of ["dragover", "drop"]) {
      target.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, composed: true, cancelable: true }));
    }
  }, files);
}

/** Drops entries of the person's machine onto the tree or a row of it, as the browser does it for the window manager. */
async function dropFromDisk(onto: string, text: string, names: readonly string[]): Promise<void> {
  const { x, y } = await (await page.find(onto, text)).clickablePoint();
  const session = await page.page.createCDPSession();
  const data = { items: [], files: names.map((name) => join(mine, name)), dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, x, y, data });
  await session.detach();
}

/** Chooses from the menu of an entry. */
async function choose(name: string, action: string): Promise<void> {
  await (await page.find("sandbox-tree >>> .row", name)).click({ button: "right" });
  await page.click("sandbox-tree >>> [role=menuitem]", action);
}

/** What a command prints in the sandbox. */
async function printed(command: string): Promise<string> {
  await page.run(command);
  return page.lastOutput();
}

describe("the files of a sandbox", { timeout: 120_000 }, () => {
  test("dropped files go into the folder they are dropped on; those that are there are kept beside, or replaced", async () => {
    await page.run("mkdir into; echo old > into/a.txt");
    await drop("sandbox-tree >>> .row", "into", { "a.txt": "new", [HOSTILE.replace("/", "")]: "hostile" });
    await page.find("sandbox-dialog >>> .detail", "a.txt");
    await page.answer("Keep both");
    await page.find("sandbox-tree >>> .row", "a (1).txt");
    await page.gone("sandbox-transfers");
    expect(await printed(`cd into; cat a.txt 'a (1).txt' ./"$(ls | grep touch)"; ls ~/x 2>&1 | wc -l; ls | wc -l`)).toBe(
      "old\nnewhostile1\n3",
    );
    await drop("sandbox-tree >>> .row", "a.txt", { "a.txt": "newer" });
    await page.answer("Replace");
    await page.gone("sandbox-transfers");
    expect(await printed("cat into/a.txt")).toBe("newer");
  });

  test("a folder is uploaded with everything in it", async () => {
    const [chooser] = await Promise.all([
      page.page.waitForFileChooser(),
      (async () => {
        await page.click('button[aria-label="More for this folder"]');
        await page.click("sandbox-tree >>> [role=menuitem]", "Upload a folder here");
      })(),
    ]);
    await chooser.accept([join(mine, "project")]);
    await page.find("sandbox-tree >>> .row", "project");
    await page.gone("sandbox-transfers");
    expect(await printed("find project -type f | wc -l; cat project/deep/*")).toBe("2\nanother Needle");
  });

  test("a folder that is dropped comes with its folders, empty ones too, and what is there is kept beside, or merged with", async () => {
    for (const folder of ["album/by year/2026", "album/empty/deeper", "lists"]) mkdirSync(join(mine, folder), { recursive: true });
    // A browser gives the entries of a folder by the hundred.
    for (let at = 0; at < 130; at += 1) writeFileSync(join(mine, "lists", `${at}.txt`), String(at));
    writeFileSync(join(mine, "album/.hidden"), "hidden");
    writeFileSync(join(mine, "album/by year/2026", HOSTILE), "first");
    await page.run("mkdir inbox");
    await dropFromDisk("sandbox-tree >>> .row", "inbox", ["album", "lists", "notes.txt"]);
    await page.find("sandbox-tree >>> .row", "lists");
    await page.gone("sandbox-transfers");
    const listed = async () => (await printed("cd inbox; find . -path ./lists -prune -o -print | LC_ALL=C sort")).split("\n");
    const whole = (top: string) => [
      top,
      `${top}/.hidden`,
      `${top}/by year`,
      `${top}/by year/2026`,
      `${top}/by year/2026/${HOSTILE}`,
      `${top}/empty`,
      `${top}/empty/deeper`,
    ];
    expect(await listed()).toEqual([".", ...whole("./album"), "./notes.txt"]);
    expect(await printed("cd inbox/lists; ls | wc -l; cat 99.txt")).toBe("130\n99");

    // Merged: files of the same name are replaced, others stay.
    await page.run("echo theirs > inbox/album/theirs.txt");
    writeFileSync(join(mine, "album/by year/2026", HOSTILE), "second");
    await dropFromDisk("sandbox-tree >>> .row", "inbox", ["album"]);
    await page.find("sandbox-dialog >>> p", "the others stay");
    await page.answer("Replace");
    await page.gone("sandbox-transfers");
    expect(await printed("cd inbox/album; cat theirs.txt 'by year'/2026/*")).toBe("theirs\nsecond");

    await dropFromDisk("sandbox-tree >>> .row", "inbox", ["album"]);
    await page.answer("Keep both");
    await page.find("sandbox-tree >>> .row", "album (1)");
    await page.gone("sandbox-transfers");
    expect((await listed()).filter((path) => path.startsWith("./album (1)"))).toEqual(whole("./album (1)"));

    // A folder is not put in the place of a file, whatever is answered.
    await page.run("mkdir other-box; echo a file > other-box/album");
    await dropFromDisk("sandbox-tree >>> .row", "other-box", ["album"]);
    await page.find("sandbox-dialog >>> p", "is kept beside it");
    await page.answer("Replace");
    await page.gone("sandbox-transfers");
    expect(await printed("cd other-box; cat album; ls -d 'album (1)'/empty/deeper")).toBe("a file\nalbum (1)/empty/deeper");
    await page.run("rm -r inbox other-box");
  });

  test("an upload shows how far it is and is cancelled, and what was there stays", async () => {
    await page.run("echo before > slow.bin");
    await page.page.emulateNetworkConditions({ upload: 400_000, download: 10_000_000, latency: 0 });
    await drop("sandbox-tree >>> .tree", "", { "slow.bin": "x".repeat(3_000_000) });
    await page.answer("Replace");
    await page.find("sandbox-transfers >>> .far", "of 2.9 MiB");
    await screenshot(page.page, "console-upload");
    await page.click('sandbox-transfers >>> button[aria-label="Cancel: Uploading slow.bin"]');
    await page.gone("sandbox-transfers");
    await page.page.emulateNetworkConditions(null);
    expect(await printed("cat slow.bin; ls -A | grep -c slow")).toBe("before\n1");
  });

  test("files and folders are downloaded, a folder as an archive", async () => {
    const session = await page.page.createCDPSession();
    await session.send("Browser.setDownloadBehavior", {
      behavior: "allow",
      downloadPath: join(mine, "downloads"),
      browserContextId: shared.context.id as string,
    });
    await choose("project", "Download");
    await choose("slow.bin", "Download");
    const there = () => readdirSync(join(mine, "downloads")).sort().join(" ");
    await expect.poll(there).toBe("project.tar.gz slow.bin");
    await page.gone("sandbox-transfers");
    const listed = execFileSync("tar", ["-tzf", join(mine, "downloads/project.tar.gz")], { encoding: "utf8" });
    expect(listed.split("\n").sort().filter(Boolean)).toEqual([
      "./project/",
      "./project/deep/",
      `./project/deep/${HOSTILE}`,
      "./project/readme.md",
    ]);
  });

  test("an entry is moved by a path and by hand, after asking", async () => {
    await choose("slow.bin", "Move");
    await page.fill("sandbox-dialog >>> input", "nowhere");
    await page.click("sandbox-dialog >>> .buttons button", "Move");
    await page.find("sandbox-dialog >>> .problem", "There is no folder");
    await page.answer("Move", "./into/../project");
    await page.gone("sandbox-tree >>> .row[aria-level='1']", "slow.bin");
    await page.find("sandbox-tree >>> .row[aria-level='2']", "slow.bin");
    const [row, folder] = [await page.find("sandbox-tree >>> .row", "slow.bin"), await page.find("sandbox-tree >>> .row", "into")];
    await row.evaluate((row, folder) => {
      const dataTransfer = new DataTransfer();
      const event = (type: string) => new DragEvent(type, { dataTransfer, bubbles: true, composed: true, cancelable: true });
      row.dispatchEvent(event("dragstart"));
      for (const type of ["dragover", "drop"]) folder.dispatchEvent(event(type));
    }, folder);
    await page.answer("Move");
    await page.until(`window.deepQuery("sandbox-tree >>> .row[aria-selected=true]", "slow.bin").length === 1`);
    expect(await printed("cat into/slow.bin; ls project")).toBe("before\ndeep\nreadme.md");
  });

  test("text is found in files, and a click leads to its line", async () => {
    await page.click('button[aria-label="Find in files"]');
    await page.page.keyboard.type("needle");
    await page.page.keyboard.press("Enter");
    await page.find("sandbox-search >>> .count", "2 lines in 2 files");
    await page.find("sandbox-search >>> h3", HOSTILE);
    await screenshot(page.page, "console-search");
    await page.click("sandbox-search >>> .place", "needle here");
    await page.find("sandbox-editor >>> .status", "Line 2");
    await page.click("sandbox-search >>> label", "Pattern");
    await page.fill("sandbox-search >>> input[type=search]", "need(le");
    await page.page.keyboard.press("Enter");
    await page.find("sandbox-search >>> sandbox-error >>> .title", "The search could not be done");
    await page.click('button[aria-label="Find in files"]');
    await page.find("sandbox-tree >>> .row", "project");
  });

  test("a file is found by its name, and opened", async () => {
    await page.page.keyboard.press("F1");
    await page.find("console-palette >>> input:focus");
    await page.page.keyboard.type("find a file");
    await page.page.keyboard.press("Enter");
    await page.find("sandbox-search >>> input[type=search]:focus");
    await page.page.keyboard.type("TOUCH x");
    await page.page.keyboard.press("Enter");
    await page.find("sandbox-search >>> .count", "2 files");
    await page.click("sandbox-search >>> .place", `project/deep/${HOSTILE}`);
    await page.editorHas("another Needle\n");
    await page.fill("sandbox-search >>> input[type=search]", "p*ct/*.md");
    await page.page.keyboard.press("Enter");
    await page.find("sandbox-search >>> .place", "project/readme.md");
    await page.click("sandbox-search >>> label", "Match case");
    await page.fill("sandbox-search >>> input[type=search]", "README");
    await page.page.keyboard.press("Enter");
    await page.find("sandbox-search >>> .count", "No file of such a name");
    await page.click('button[aria-label="Find in files"]');
  });

  test("an entry is duplicated beside itself, and its path is copied", async () => {
    await shared.context.overridePermissions(new URL(shared.url).origin, ["clipboard-read", "clipboard-sanitized-write"]);
    await page.page.bringToFront();
    await choose("project", "Duplicate");
    await page.find("sandbox-tree >>> .row", "project (1)");
    await choose("project (1)", "Copy path");
    await page.find("sandbox-files >>> .notice", "The path is copied");
    expect(await page.page.evaluate(() => navigator.clipboard.readText())).toBe(`${await printed("pwd")}/project (1)`);
    const facts = (folder: string) => `<(cd '${folder}' && find . -printf '%p %m %T@ %l\\n' | sort)`;
    expect(
      await printed(
        `diff -r project 'project (1)' && diff ${facts("project")} ${facts("project (1)")} && rm -r 'project (1)'; echo $?`,
      ),
    ).toBe("0");
  });

  test("an open file follows the sandbox; with changes here the person compares and decides", async () => {
    await page.run("printf 'one\\ntwo\\nthree\\n' > followed.txt");
    await page.click("sandbox-tree >>> .row", "followed.txt");
    await page.editorHas("one\ntwo\nthree\n");
    await page.run("printf 'one\\nTWO\\nthree\\n' > followed.txt");
    await page.editorHas("one\nTWO\nthree\n");
    await page.click("sandbox-editor >>> .cm-content");
    await page.page.keyboard.down("Control");
    await page.page.keyboard.press("Home");
    await page.page.keyboard.up("Control");
    await page.page.keyboard.press("ArrowDown");
    await page.page.keyboard.type("mine ");
    await page.run("printf 'one\\nTHEIRS\\nthree\\n' > followed.txt");
    await page.click("sandbox-editor >>> .outside button", "Compare");
    await page.find("sandbox-editor >>> .cm-deletedChunk", "THEIRS");
    await screenshot(page.page, "console-compare");
    await page.click("sandbox-editor >>> .cm-deletedChunk button", "Take theirs");
    await page.click("sandbox-editor >>> .outside button", "End the comparison");
    await page.editorHas("one\nTHEIRS\nthree\n");
    await page.gone("sandbox-editor >>> .outside");
    await page.gone("sandbox-editor >>> .dirty");
    await page.run("rm followed.txt");
    await page.find("sandbox-editor >>> .outside", "was deleted");
  });

  test("pictures are shown, by what they are and not by their name", async () => {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAEUlEQVR4nGP4z8DwHwwZGAAj9wX7Gk3WDgAAAABJRU5ErkJggg==";
    await page.run(
      `echo ${png} | base64 -d > picture.txt; printf '\\211PNG\\r\\n\\032\\nbroken' > broken.png; truncate -s 21M huge; printf '\\211PNG\\r\\n\\032\\n' | dd of=huge conv=notrunc status=none`,
    );
    await page.click("sandbox-tree >>> .row", "picture.txt");
    await page.find("sandbox-editor >>> .measured", "2 × 1");
    await page.click("sandbox-tree >>> .row", "broken.png");
    await page.find("sandbox-editor >>> pre", "89 50 4e 47");
    await page.click("sandbox-tree >>> .row", "huge");
    await page.find("sandbox-editor >>> p", "too large to be shown");
  });

  test("Markdown and SVG are previewed beside their source, and run nothing", async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40"><script>parent.hit=1</script><rect width="90" height="40" fill="teal"/></svg>`;
    await page.run(
      `printf '# Title\\n\\n- *one* <img src=x onerror=hit=1>\\n\\n[link](javascript:hit=1)\\n' > text.md; printf '%s' '${svg}' > drawing.svg`,
    );
    await page.click("sandbox-tree >>> .row", "text.md");
    await page.click('sandbox-editor >>> button[aria-label="Preview"]');
    await page.find("sandbox-editor >>> .rendered >>> h3", "Title");
    await page.find("sandbox-editor >>> .rendered >>> em", "one");
    await screenshot(page.page, "console-preview");
    await page.run("echo '# Another' > text.md");
    await page.find("sandbox-editor >>> .rendered >>> h3", "Another");
    await page.click("sandbox-tree >>> .row", "drawing.svg");
    await page.find("sandbox-editor >>> .cm-line", "<svg");
    await page.click('sandbox-editor >>> button[aria-label="Preview"]');
    await page.until(`window.deepQuery("sandbox-editor >>> .rendered >>> img", "")[0]?.naturalWidth === 90`);
    await page.click('sandbox-editor >>> button[aria-label="Preview"]');
    await page.find("sandbox-editor >>> .cm-line", "<svg");
    expect(await page.page.evaluate(() => "hit" in window)).toBe(false);
  });

  test.each([
    ["quotes", `it's "quoted" \\ back\`tick`],
    ["a newline", "two\nlines.txt"],
    ["marks that turn text around", "evil\u202etxt.exe"],
    ["percent signs and hashes", "a%20b#c?d&e+f;g.txt"],
    ["composed and decomposed accents", "\u00e9 e\u0301.txt"],
    ["255 bytes", `${"長".repeat(83)}ab.txt`],
  ])("a name with %s is opened, edited, renamed and deleted", async (_what, name) => {
    await (await sandbox).files.write(name, "first\n");
    const shown = plainName(name);
    await page.click("sandbox-tree >>> .row", shown);
    await page.editorHas("first\n");
    await page.find("sandbox-editor >>> .cm-focused");
    await page.page.keyboard.type("x");
    await page.click('sandbox-editor >>> button[aria-label="Save"]');
    await page.find("sandbox-editor >>> .status", "Saved");
    expect(await (await sandbox).files.read(name)).toBe("xfirst\n");
    await choose(shown, "Rename");
    await page.answer("Rename", `2${name.replace("\n", "").slice(1)}`);
    await page.find("sandbox-editor >>> .tab", plainName(`2${name.replace("\n", "").slice(1)}`));
    await page.gone("sandbox-tree >>> .row", shown);
    expect(await (await sandbox).files.exists(name)).toBe(false);
    await (await page.find("sandbox-tree >>> .row[aria-selected=true]")).focus();
    await page.page.keyboard.press("Delete");
    await page.answer("Delete");
    await page.gone("sandbox-editor >>> .tab", plainName(`2${name.replace("\n", "").slice(1)}`));
  });

  test("a name that is no UTF-8 is listed, and what cannot be done with it is told", async () => {
    await page.run("printf inside > $'bad\\xff.txt'");
    await page.click("sandbox-tree >>> .row", "bad\ufffd.txt");
    await page.find("sandbox-editor >>> sandbox-error >>> .title", "This name cannot be written here");
    await page.until(`(() => {
      const [tab, list] = [".tab[aria-selected=true]", ".tabs"].map((path) => window.deepQuery("sandbox-editor >>> " + path, "")[0]?.getBoundingClientRect());
      return tab && tab.right <= list.right + 1 && tab.left >= list.left - 1;
    })()`);
    await screenshot(page.page, "console-name-no-utf8");
    await page.click("sandbox-editor >>> .message button", "Close");
    await choose("bad\ufffd.txt", "Delete");
    await page.find("sandbox-files >>> .side sandbox-error >>> .title", "Deleting: This name cannot be written here");
    expect(await page.count("sandbox-dialog")).toBe(0);
    expect(await printed("cat bad*")).toBe("inside");
    await page.click('sandbox-files >>> .side sandbox-error >>> button[aria-label="Dismiss"]');
    await page.run("rm bad*");
    await page.gone("sandbox-tree >>> .row", "bad\ufffd.txt");
  });

  test("a reload opens the same folders and files", async () => {
    await page.click("sandbox-editor >>> .tab", "readme.md");
    await page.editorHas("# A project\nneedle here\n");
    await page.page.reload({ waitUntil: "domcontentloaded" });
    await page.editorHas("# A project\nneedle here\n");
    await page.find("sandbox-editor >>> .tab", "picture.txt");
    await page.find("sandbox-tree >>> .row[aria-level='2']", "a (1).txt");
  });

  test("nothing went wrong in the page", () => {
    // The browser itself notes that the file whose name is no UTF-8 was not found, twice, and the folder that nothing could move into.
    const missing = (problem: string) => /^console: Failed to load resource: .* 404 .*\.Filesystem\/Stat$/.test(problem);
    expect(page.problems.filter(missing)).toHaveLength(3);
    // So it does that a folder was merged with one that was there, and that one that was shown was removed.
    const merged = (problem: string) => /\.Filesystem\/(?:MakeDir|ListDir)$/.test(problem) && / 40[49] /.test(problem);
    expect(page.problems.filter((problem) => !missing(problem) && !merged(problem))).toEqual([]);
  });
});
