/** The console as a person meets it: things are found by what they are, through every shadow tree, and waited for. */
import type { BrowserContext, ElementHandle, Page, Viewport } from "puppeteer-core";

declare global {
  interface Window {
    /** The shown elements that a path leads to and whose text contains `text`. */
    deepQuery(path: string, text: string): HTMLElement[];
    /** What the command box shows of the last command's output. */
    lastOutput(): string;
  }
}

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };

/** The way to what is on a terminal's screen: that is the program's, and its colours are not the console's. */
export const TERMINAL_SCREEN = ["console-app", "sandbox-console", "sandbox-terminal-group", "sandbox-terminal", ".xterm-screen"];

/** How long anything may take on a slow machine, in ms. */
const PATIENCE = 90_000;

/** An open console. */
export class ConsolePage {
  private constructor(
    readonly page: Page,
    /** Uncaught errors, `console.error` lines, CSP violations and dialogs of the page's own, in order. */
    readonly problems: string[],
    private readonly firefox: boolean,
  ) {}

  /** Opens the console at an address. */
  static async open(context: BrowserContext, url: string, viewport = DESKTOP): Promise<ConsolePage> {
    return ConsolePage.openIn(await context.newPage(), url, viewport);
  }

  /** Opens the console at an address in a tab that is there. */
  static async openIn(page: Page, url: string, viewport = DESKTOP): Promise<ConsolePage> {
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(`uncaught: ${error instanceof Error ? (error.stack ?? error.message) : error}`));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(`console: ${message.text()} ${message.location().url ?? ""}`);
    });
    page.on("dialog", (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.accept();
    });
    await page.evaluateOnNewDocument(prepare);
    await page.setViewport(viewport);
    await page.goto(url, { waitUntil: "domcontentloaded" });
    return new ConsolePage(page, problems, (await page.browser().version()).toLowerCase().startsWith("firefox"));
  }

  /**
   * Waits for a shown element.
   * @param path CSS selectors joined by ` >>> `, each looked for at any depth below the one before
   * @param text what its text must contain
   */
  async find(path: string, text = ""): Promise<ElementHandle<HTMLElement>> {
    const handle = await this.page.waitForFunction((path, text) => window.deepQuery(path, text)[0], this.waiting, path, text);
    return handle as ElementHandle<HTMLElement>;
  }

  /** Waits until no such element is shown. */
  async gone(path: string, text = ""): Promise<void> {
    await this.page.waitForFunction((path, text) => window.deepQuery(path, text).length === 0, this.waiting, path, text);
  }

  /** How many such elements are shown now. */
  count(path: string, text = ""): Promise<number> {
    return this.page.evaluate((path, text) => window.deepQuery(path, text).length, path, text);
  }

  /** Goes over to another kind of device, which loads the page anew. */
  async turnInto(viewport: Viewport): Promise<void> {
    await Promise.all([this.page.waitForNavigation({ waitUntil: "domcontentloaded" }), this.page.setViewport(viewport)]);
  }

  /** Clicks as a person does, once the element is shown, can be used and rests where it is. */
  async click(path: string, text = ""): Promise<void> {
    const element = await this.find(path, text);
    await element.evaluate((element) => element.scrollIntoView({ block: "nearest" }));
    await this.page.waitForFunction(waits, this.waiting, element);
    await element.click();
    // A handle keeps what it holds in the page, with all around it, after the page itself has let go of it.
    await element.dispose();
  }

  /** Types into a field, replacing what is in it. */
  async fill(path: string, value: string): Promise<void> {
    const field = await this.find(path);
    await field.evaluate((field) => (field as HTMLInputElement).select());
    // Firefox's driver takes one at a time.
    const pieces = this.firefox ? value : [value];
    for (const piece of pieces) await this.page.keyboard.sendCharacter(piece);
    await field.dispose();
  }

  /** The text of an element as it is shown. */
  async text(path: string): Promise<string> {
    return (await this.find(path)).evaluate((element) => element.textContent);
  }

  /** Answers the dialog that is open by its button of this name. */
  async answer(button: string, value?: string): Promise<void> {
    if (value !== undefined) await this.fill("sandbox-dialog >>> input", value);
    await this.click("sandbox-dialog >>> .buttons button", button);
    await this.gone("sandbox-dialog >>> dialog");
  }

  /** Starts a sandbox by the dialog and waits until it is open. Gives its id. */
  async createSandbox(template = "base"): Promise<string> {
    await this.click("button", "New sandbox");
    await (await this.find("console-new-sandbox >>> #template")).select(template);
    await this.click("console-new-sandbox >>> button", "Start");
    await this.gone("console-new-sandbox >>> dialog");
    await this.find("sandbox-console");
    return this.text("console-sandbox-bar >>> h2");
  }

  /** Runs a command in the command box and waits for its end. Gives the badge of the end. */
  async run(command: string): Promise<string> {
    await this.start(command);
    return this.commandEnd();
  }

  /** Starts a command in the command box. */
  async start(command: string): Promise<void> {
    if ((await this.count("sandbox-command")) === 0) await this.click('[role=tab][aria-label="Command"]');
    await this.fill("sandbox-command >>> textarea", command);
    await this.page.keyboard.press("Enter");
    await (await this.find("sandbox-command >>> h3", command.split("\n")[0])).dispose();
  }

  /** Waits until the last command has ended. */
  async commandEnd(): Promise<string> {
    const badge = await this.page.waitForFunction(() => {
      const runs = window.deepQuery("sandbox-command >>> .run", "");
      return runs.at(-1)?.querySelector<HTMLElement>(".badge")?.textContent;
    }, this.waiting);
    return (await badge.jsonValue()) as string;
  }

  /** The output of the last command, without empty lines around it. */
  lastOutput(): Promise<string> {
    return this.page.evaluate(() => window.lastOutput());
  }

  /** Waits until the last command's output contains `text`. */
  async outputHas(text: string): Promise<void> {
    await this.page.waitForFunction((text) => window.lastOutput().includes(text), this.waiting, text);
  }

  /** Opens a terminal, or shows one that is there, and waits for its shell. */
  async terminal(number: number): Promise<void> {
    await this.find('[role=tablist][aria-label="Views"]');
    const tab = `[role=tab][aria-label="Terminal ${number}"]`;
    if ((await this.count(tab)) === 0) await this.click('button[aria-label="New terminal"]');
    else await this.click(tab);
    await this.page.waitForFunction(
      (number) => {
        const [group] = window.deepQuery(`sandbox-terminal-group[data-id="${number}"]`, "");
        const typed = group?.shadowRoot?.activeElement as { phase?: string } | null | undefined;
        return typed?.phase === "open";
      },
      this.waiting,
      number,
    );
  }

  /** Waits until the shown terminal's text contains `text`. */
  async terminalHas(text: string): Promise<void> {
    await this.page.waitForFunction(
      (text) => (window.deepQuery("sandbox-terminal", "")[0] as { text?(): string } | undefined)?.text?.().includes(text) ?? false,
      this.waiting,
      text,
    );
  }

  /** The text of the shown terminal. */
  terminalText(): Promise<string> {
    return this.page.evaluate(() => (window.deepQuery("sandbox-terminal", "")[0] as unknown as { text(): string }).text());
  }

  /** Opens a file of the tree and waits until it can be written into: the one before keeps the focus until this one is read. */
  async openFile(name: string): Promise<void> {
    await this.click("sandbox-tree >>> .row", name);
    await this.page.waitForFunction(
      (name) => {
        const editor = window.deepQuery("sandbox-editor", "")[0] as { path?: string; text?: string } | undefined;
        return editor?.path?.endsWith(`/${name}`) && editor.text !== undefined;
      },
      this.waiting,
      name,
    );
    await this.find("sandbox-editor >>> .cm-focused");
  }

  /** Waits until the file that is shown in the editor has this text. */
  async editorHas(text: string): Promise<void> {
    await this.page.waitForFunction(
      (text) => (window.deepQuery("sandbox-editor", "")[0] as { text?: string } | undefined)?.text === text,
      this.waiting,
      text,
    );
  }

  /** Waits for a condition in the page, given as an expression. */
  async until(condition: string): Promise<void> {
    await this.page.waitForFunction(condition, this.waiting);
  }

  /** What is stored in the browser for the console's origin. */
  storage(): Promise<{ local: Record<string, string>; session: Record<string, string>; cookies: string }> {
    return this.page.evaluate(() => ({ local: { ...localStorage }, session: { ...sessionStorage }, cookies: document.cookie }));
  }

  private get waiting() {
    // Mutations inside shadow trees are not seen from the document: looking again is the way.
    return { polling: 40, timeout: PATIENCE };
  }
}

/** Whether an element can be used and is where it was when that was asked before; what is gone by now is for the click to say. */
function waits(element: HTMLElement & { rested?: string; disabled?: boolean }): boolean {
  const { x, y, width, height } = element.getBoundingClientRect();
  const place = [x, y, width, height].join();
  const waits = !element.isConnected || (element.rested === place && !element.disabled);
  element.rested = place;
  return waits;
}

/** Runs in the page before anything else. */
function prepare(): void {
  document.addEventListener("securitypolicyviolation", (event) => {
    console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
  });
  const below = (root: Document | ShadowRoot | Element, selector: string): HTMLElement[] =>
    [...root.querySelectorAll<HTMLElement>("*")].flatMap((element) => [
      ...(element.matches(selector) ? [element] : []),
      ...(element.shadowRoot ? below(element.shadowRoot, selector) : []),
    ]);
  const inside = (root: HTMLElement | Document, selector: string): HTMLElement[] => [
    ...(root instanceof HTMLElement && root.shadowRoot ? below(root.shadowRoot, selector) : []),
    ...below(root, selector),
  ];
  window.lastOutput = () => {
    const lines = window.deepQuery("sandbox-output", "").at(-1)?.shadowRoot?.querySelectorAll(".line, .dropped:not([hidden])");
    return Array.from(lines ?? [], (line) => line.textContent)
      .join("\n")
      .trim();
  };
  window.deepQuery = (path, text) => {
    let roots: (HTMLElement | Document)[] = [document];
    for (const selector of path.split(" >>> ")) roots = [...new Set(roots.flatMap((root) => inside(root, selector)))];
    return (roots as HTMLElement[]).filter((element) => element.checkVisibility() && element.textContent.includes(text));
  };
}
