/** The notebook of an open console as a person meets it. */
import type { Frame } from "puppeteer-core";
import type { ConsolePage } from "./console-page.ts";

export class NotebookPage {
  constructor(private readonly console: ConsolePage) {}

  /** Starts a sandbox with code cells and shows its notebook. */
  async begin(): Promise<string> {
    const id = await this.console.createSandbox("code-interpreter-v1");
    await this.show();
    return id;
  }

  /** Shows the notebook and waits until its first cell can be written into. */
  async show(): Promise<void> {
    await this.console.click('[role=tab][aria-label="Notebook"]');
    await this.console.find("sandbox-cell >>> .cm-content");
  }

  /** How many cells there are. */
  count(): Promise<number> {
    return this.console.count("sandbox-cell");
  }

  /** Writes a cell's text, replacing what is in it. */
  async write(place: number, code: string): Promise<void> {
    await this.console.click(`${cell(place)} >>> .cm-content`);
    await this.press("Control", "a");
    await this.console.page.keyboard.sendCharacter(code);
  }

  /** Writes a cell and runs it. */
  async start(place: number, code: string): Promise<void> {
    await this.write(place, code);
    await this.press("Control", "Enter");
  }

  /** Writes a cell, runs it and waits for its end. */
  async run(place: number, code: string): Promise<void> {
    await this.start(place, code);
    await this.ended(place);
  }

  /** Waits until a cell has run: its number is shown then, or that it failed or was stopped. */
  async ended(place: number): Promise<void> {
    await this.console.until(
      `(() => {
        const element = window.deepQuery('${cell(place)}', "")[0];
        const { state, count, failed, note } = element?.cell ?? {};
        return state === "idle" && (count !== undefined || failed || note !== "");
      })()`,
    );
  }

  /** The number of a cell in its context as it is shown, such as `[3]`. */
  number(place: number): Promise<string> {
    return this.console.text(`${cell(place)} >>> .count`);
  }

  /** Waits until the shown text of a cell's output contains `text`. */
  async outputHas(place: number, text: string): Promise<void> {
    await this.console.find(`${cell(place)} >>> sandbox-output >>> .line`, text);
  }

  /** The printed lines that a cell shows. */
  lines(place: number): Promise<string[]> {
    return this.console.page.evaluate(
      (path) => window.deepQuery(path, "").map((line) => line.textContent),
      `${cell(place)} >>> sandbox-output >>> .line`,
    );
  }

  /** The frame in which a cell's HTML is shown, once it has been filled. */
  async frame(place: number, inside: string): Promise<Frame> {
    const element = await this.console.find(`${cell(place)} >>> sandbox-result-frame >>> iframe`);
    const frame = await element.contentFrame();
    if (!frame) throw new Error("the frame has no document");
    await frame.waitForSelector(inside, { timeout: 45_000 });
    return frame;
  }

  /** Presses a key while another is held. */
  async press(held: "Control" | "Shift", key: "a" | "Enter"): Promise<void> {
    const { keyboard } = this.console.page;
    await keyboard.down(held);
    await keyboard.press(key);
    await keyboard.up(held);
  }
}

/** The path to a cell by its place, from 1. */
export function cell(place: number): string {
  return `sandbox-cell[place="${place}"]`;
}
