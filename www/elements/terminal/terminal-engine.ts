/** xterm.js as the terminal element needs it. Loaded only when a terminal is opened. */

import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { SerializeAddon } from "@xterm/addon-serialize";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal } from "@xterm/xterm";
import stylesheet from "@xterm/xterm/css/xterm.css?inline";
import { keyAction } from "./keys.js";
import { onTerminalSettings, terminalSettings } from "./settings.js";
import { DARK, LIGHT } from "./themes.js";
import { type TouchKey, typed, withControl } from "./touch-keys.js";

/** The stylesheet of xterm.js, for the shadow tree it is drawn in. */
export { stylesheet };

/** What the engine tells. */
export interface EngineHooks {
  /** The person typed, or the terminal answers a question of the program in it. */
  input(data: string | Uint8Array): void;
  /** The size in characters has changed. */
  size(cols: number, rows: number): void;
  /** The person followed a link. */
  link(address: string): void;
  /** The Ctrl that was held for one character is let go of. */
  controlled(): void;
  /** The person wants to look for something. */
  search(): void;
  /** The person wants to leave the terminal by keyboard. */
  leave(): void;
  /** Something was looked for. */
  found(found: Found): void;
  /** Whether lines may be pasted that the program would run one after the other. */
  mayPaste(text: string): Promise<boolean>;
}

// Bytes that xterm may have been given but not yet drawn. Waiting for each chunk would cost a timer a chunk; without a bound
// `yes` would fill memory, and Ctrl-C would come after everything that was read before it.
const UNDRAWN_LIMIT = 128 * 1024;

/** How much of the text is kept for a later page, as lines above the screen: the most that is not too much. */
const KEPT_LINES = [1000, 200, 0] as const;
const KEPT_TEXT = 200_000;

/** What was found, for people: which match is shown, from 1, and how many there are. */
export interface Found {
  readonly at: number;
  readonly count: number;
}

/** A terminal drawn into an element. */
export class TerminalEngine {
  private readonly terminal: Terminal;
  private readonly fitting = new FitAddon();
  private readonly searching = new SearchAddon({ highlightLimit: 1000 });
  private readonly serializing = new SerializeAddon();
  private readonly forgetSettings = onTerminalSettings(() => this.applySettings());
  private acceleration: Promise<(() => void) | undefined> | undefined;
  /** Whether Ctrl is held for the next character. */
  control = false;
  private undrawn = 0;
  private drained: (() => void) | undefined;
  private disposed = false;

  constructor(parent: HTMLElement, dark: boolean, hooks: EngineHooks) {
    this.terminal = new Terminal({
      // The Unicode version is still a proposed interface.
      allowProposedApi: true,
      cursorBlink: true,
      fontFamily: getComputedStyle(parent).getPropertyValue("--sb-mono"),
      fontSize: terminalSettings().fontSize,
      linkHandler: { activate: (_event, address) => hooks.link(address), allowNonHttpProtocols: false },
      macOptionIsMeta: true,
      minimumContrastRatio: 4.5,
      screenReaderMode: terminalSettings().screenReader,
      scrollback: terminalSettings().scrollback,
      theme: dark ? DARK : LIGHT,
    });
    this.terminal.loadAddon(this.fitting);
    this.terminal.loadAddon(this.searching);
    this.terminal.loadAddon(this.serializing);
    this.terminal.loadAddon(new Unicode11Addon());
    this.terminal.unicode.activeVersion = "11";
    this.terminal.loadAddon(new WebLinksAddon((_event, address) => hooks.link(address)));
    // OSC 52 would let the sandbox read and write the person's clipboard. Nothing here serves it; this keeps it so.
    this.terminal.parser.registerOscHandler(52, () => true);
    this.terminal.onData((data) => {
      const { control } = this;
      // What the terminal itself answers is longer than a character.
      if (!control || [...data].length !== 1) return hooks.input(data);
      this.control = false;
      hooks.input(withControl(data));
      hooks.controlled();
    });
    this.terminal.onBinary((data) => hooks.input(Uint8Array.from(data, (character) => character.charCodeAt(0) & 0xff)));
    this.terminal.onResize(({ cols, rows }) => hooks.size(cols, rows));
    this.searching.onDidChangeResults(({ resultIndex, resultCount }) => hooks.found({ at: resultIndex + 1, count: resultCount }));
    this.terminal.attachCustomKeyEventHandler((event) => this.key(event, hooks));
    this.terminal.open(parent);
    this.terminal.textarea?.addEventListener("paste", (event) => this.paste(event, hooks), { capture: true });
    this.fit();
  }

  /** The size in characters. */
  get size(): { cols: number; rows: number } {
    return { cols: this.terminal.cols, rows: this.terminal.rows };
  }

  /** Fills the element. Without a size, as in a hidden tab, everything stays as it is. */
  fit(): void {
    const { element } = this.terminal;
    if (this.disposed || !element?.parentElement?.clientWidth || !element.parentElement.clientHeight) return;
    this.fitting.fit();
  }

  /** Draws output. Resolves once more may be written. */
  async write(data: Uint8Array): Promise<void> {
    this.undrawn += data.length;
    this.terminal.write(data, () => {
      this.undrawn -= data.length;
      if (this.undrawn <= UNDRAWN_LIMIT / 2) this.drained?.();
    });
    if (this.undrawn < UNDRAWN_LIMIT || this.disposed) return;
    await new Promise<void>((resolve) => {
      this.drained = resolve;
    });
    this.drained = undefined;
  }

  /** Clears what is shown and every mode that the last program left behind. */
  reset(): void {
    this.terminal.reset();
  }

  /** Whether what is typed is taken. */
  set takesInput(value: boolean) {
    this.terminal.options.disableStdin = !value;
    this.terminal.options.cursorBlink = value;
  }

  /** Whether colours are for a dark page. */
  set dark(value: boolean) {
    this.terminal.options.theme = value ? DARK : LIGHT;
  }

  focus(): void {
    this.terminal.focus();
  }

  /** Types a key that the person's keyboard does not have. */
  press(key: TouchKey): void {
    this.terminal.input(typed(key, this.terminal.modes.applicationCursorKeysMode));
  }

  /**
   * Whether it is looked at: then it is drawn by the graphics processor where there is one. Browsers give a page only a few contexts for
   * that, and a hidden terminal needs none.
   */
  set shown(value: boolean) {
    if (!value) {
      void this.acceleration?.then((end) => end?.());
      this.acceleration = undefined;
    } else if (hasFastGraphics()) this.acceleration ??= this.accelerate();
  }

  /** Looks for a text from what is shown on, and marks every place of it. */
  find(text: string, direction: "next" | "previous", incremental = false): void {
    const decorations = {
      matchBackground: "#8a6d1f",
      matchOverviewRuler: "#8a6d1f",
      activeMatchBackground: "#c98a00",
      activeMatchColorOverviewRuler: "#c98a00",
    };
    if (direction === "next") this.searching.findNext(text, { incremental, decorations });
    else this.searching.findPrevious(text, { decorations });
  }

  /** Takes the marks of the search away. */
  endSearch(): void {
    this.searching.clearDecorations();
    this.terminal.clearSelection();
  }

  /** What is shown, with the escape sequences that draw it again. */
  serialize(): string {
    const texts = KEPT_LINES.map((scrollback) => () => this.serializing.serialize({ scrollback }));
    for (const text of texts) {
      const serialized = text();
      if (serialized.length <= KEPT_TEXT) return serialized;
    }
    return "";
  }

  /** Draws what an earlier terminal has shown, in its size until this one has its own. Nothing in it is answered: who asked is gone. */
  async restore(text: string, { cols, rows }: { cols?: number; rows?: number }): Promise<void> {
    if (cols && rows) this.terminal.resize(cols, rows);
    if (text !== "") await new Promise<void>((resolve) => this.terminal.write(text, resolve));
    this.fit();
  }

  /** What is on the screen and above it, as text. */
  text(): string {
    const { active } = this.terminal.buffer;
    const lines: string[] = [];
    for (let at = 0; at < active.length; at += 1) lines.push(active.getLine(at)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }

  dispose(): void {
    this.disposed = true;
    this.forgetSettings();
    this.drained?.();
    this.terminal.dispose();
  }

  private key(event: KeyboardEvent, hooks: EngineHooks): boolean {
    const action = keyAction(event, this.terminal.hasSelection());
    if (action === "type") return true;
    // What is left to the browser pastes by itself.
    if (action !== "browser") event.preventDefault();
    if (event.type !== "keydown") return false;
    if (action === "copy" && this.terminal.hasSelection()) {
      void navigator.clipboard.writeText(this.terminal.getSelection()).catch(() => {});
      this.terminal.clearSelection();
    } else if (action === "search") hooks.search();
    else if (action === "leave") hooks.leave();
    return false;
  }

  /** Lines that a program would run one by one as they come are worth a question. */
  private paste(event: ClipboardEvent, hooks: EngineHooks): void {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (this.terminal.modes.bracketedPasteMode || !/[\r\n]./s.test(text)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    void hooks.mayPaste(text).then((may) => {
      if (may && !this.disposed) this.terminal.paste(text);
    });
  }

  private applySettings(): void {
    const { fontSize, scrollback, screenReader } = terminalSettings();
    Object.assign(this.terminal.options, { fontSize, scrollback, screenReaderMode: screenReader });
    this.fit();
  }

  private async accelerate(): Promise<(() => void) | undefined> {
    try {
      const { accelerate } = await import("./acceleration.js");
      return this.disposed ? undefined : accelerate(this.terminal);
    } catch {
      // The page draws it then, as everywhere without a graphics processor.
      return undefined;
    }
  }
}

let fastGraphics: boolean | undefined;

/** Whether WebGL is there and not simulated by the processor, which is slower than the page's own drawing. */
function hasFastGraphics(): boolean {
  if (fastGraphics === undefined) {
    const context = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
    const names = context?.getExtension("WEBGL_debug_renderer_info");
    const renderer = String(context?.getParameter(names?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER) ?? "");
    fastGraphics = context !== null && !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
    context?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return fastGraphics;
}
