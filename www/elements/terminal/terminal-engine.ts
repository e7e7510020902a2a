/** xterm.js as the terminal element needs it. Loaded only when a terminal is opened. */

import { FitAddon } from "@xterm/addon-fit";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { type ITheme, Terminal } from "@xterm/xterm";
import stylesheet from "@xterm/xterm/css/xterm.css?inline";

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
}

// Bytes that xterm may have been given but not yet drawn. Waiting for each chunk would cost a timer a chunk; without a bound
// `yes` would fill memory, and Ctrl-C would come after everything that was read before it.
const UNDRAWN_LIMIT = 128 * 1024;

const LIGHT: ITheme = {
  background: "#ffffff",
  foreground: "#1a1c22",
  cursor: "#4350c8",
  cursorAccent: "#ffffff",
  selectionBackground: "#c9d0f7",
  black: "#1a1c22",
  red: "#b92a25",
  green: "#14794a",
  yellow: "#8a5300",
  blue: "#2b5fc4",
  magenta: "#8a3ab0",
  cyan: "#0b7285",
  white: "#5a606c",
  brightBlack: "#6b7180",
  brightRed: "#d0342e",
  brightGreen: "#17794d",
  brightYellow: "#8f5c00",
  brightBlue: "#2f66d0",
  brightMagenta: "#9a45c4",
  brightCyan: "#0c7a8e",
  brightWhite: "#3b3f4a",
};

const DARK: ITheme = {
  background: "#141519",
  foreground: "#e5e7ec",
  cursor: "#98a2fb",
  cursorAccent: "#141519",
  selectionBackground: "#3a4170",
  black: "#3a3d47",
  red: "#ff8a80",
  green: "#5fd39a",
  yellow: "#e8bd6a",
  blue: "#82aaff",
  magenta: "#d3a0f5",
  cyan: "#6fd3e3",
  white: "#cfd3db",
  brightBlack: "#8b91a0",
  brightRed: "#ffa199",
  brightGreen: "#86e6b5",
  brightYellow: "#f5d48f",
  brightBlue: "#a9c4ff",
  brightMagenta: "#e4c2fb",
  brightCyan: "#9be6f1",
  brightWhite: "#f4f5f7",
};

/** A terminal drawn into an element. */
export class TerminalEngine {
  private readonly terminal: Terminal;
  private readonly fitting = new FitAddon();
  private undrawn = 0;
  private drained: (() => void) | undefined;
  private disposed = false;

  constructor(parent: HTMLElement, dark: boolean, hooks: EngineHooks) {
    this.terminal = new Terminal({
      // The Unicode version is still a proposed interface.
      allowProposedApi: true,
      cursorBlink: true,
      fontFamily: getComputedStyle(parent).getPropertyValue("--sb-mono"),
      fontSize: 13,
      linkHandler: { activate: (_event, address) => hooks.link(address), allowNonHttpProtocols: false },
      macOptionIsMeta: true,
      minimumContrastRatio: 4.5,
      scrollback: 5000,
      theme: dark ? DARK : LIGHT,
    });
    this.terminal.loadAddon(this.fitting);
    this.terminal.loadAddon(new Unicode11Addon());
    this.terminal.unicode.activeVersion = "11";
    this.terminal.loadAddon(new WebLinksAddon((_event, address) => hooks.link(address)));
    // OSC 52 would let the sandbox read and write the person's clipboard. Nothing here serves it; this keeps it so.
    this.terminal.parser.registerOscHandler(52, () => true);
    this.terminal.onData((data) => hooks.input(data));
    this.terminal.onBinary((data) => hooks.input(Uint8Array.from(data, (character) => character.charCodeAt(0) & 0xff)));
    this.terminal.onResize(({ cols, rows }) => hooks.size(cols, rows));
    this.terminal.open(parent);
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

  /** What is on the screen and above it, as text. */
  text(): string {
    const { active } = this.terminal.buffer;
    const lines: string[] = [];
    for (let at = 0; at < active.length; at += 1) lines.push(active.getLine(at)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }

  dispose(): void {
    this.disposed = true;
    this.drained?.();
    this.terminal.dispose();
  }
}
