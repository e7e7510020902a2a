/** What becomes of the files of open texts in the sandbox, and what is done when a file and its text part. */

import type { Files } from "agent-sandbox-web";
import { openFile } from "../files/open-file.js";
import type { EditorEngine } from "./editor-engine.js";
import { type OpenDocument, version, versionOf } from "./open-document.js";
import { askToOverwrite } from "./questions.js";

/** The editor, as far as this needs it. */
export interface OutsideHost {
  /** Where the files are; `undefined` while nothing may be asked of their sandbox. */
  files(): Files | undefined;
  /** What holds the texts, once it is loaded. */
  engine(): EditorEngine | undefined;
  /** Takes in what has become of a document. */
  change(document: OpenDocument, change: Partial<OpenDocument>): void;
  /** Reads a document anew. */
  load(document: OpenDocument): Promise<void>;
}

/** Compares open texts with their files. */
export class Outside {
  constructor(private readonly host: OutsideHost) {}

  /** Looks whether a file is another than the one that was read. Without changes here the new text is simply taken. */
  async look(document: OpenDocument): Promise<void> {
    const files = this.host.files();
    document.stale = true;
    if (document.looking || !(document.opened || document.document) || !files) return;
    document.looking = true;
    try {
      // While it is written nothing can be told; whoever writes it looks again.
      while (document.stale && !document.saving) {
        document.stale = false;
        const version = await versionOf(files, document);
        if (document.saving) document.stale = true;
        else await this.found(document, version);
      }
    } catch {
      // Whoever reads or saves it is told what is wrong.
    } finally {
      document.looking = false;
    }
  }

  /** Asks when the file is another than the one that was read. A file that went away is simply written anew. */
  async mayOverwrite(files: Files, document: OpenDocument): Promise<boolean> {
    const version = await versionOf(files, document);
    if (version === undefined || version === document.version) return true;
    const answer = await askToOverwrite(document.path);
    if (answer === "compare") await this.compare(document);
    return answer === "";
  }

  /** Shows a text against what its file holds. */
  async compare(document: OpenDocument): Promise<void> {
    const files = this.host.files();
    const engine = this.host.engine();
    if (!engine || !files || !document.document) return;
    try {
      const opened = await openFile(files, document.path, document.reading.signal);
      if (opened.kind !== "text") {
        this.host.change(document, { opened, outside: undefined });
        return;
      }
      await engine.compare(document.document, opened.text);
      engine.setSaved(document.document, opened.text);
      // What is compared with is known: saving asks no more, unless the file changes again.
      this.host.change(document, {
        comparing: true,
        outside: undefined,
        version: version(opened.info),
        dirty: engine.isDirty(document.document),
      });
    } catch (saveError) {
      this.host.change(document, { saveError });
    }
  }

  /** Shows the text alone again. */
  async endComparison(document: OpenDocument): Promise<void> {
    if (!document.comparing) return;
    if (document.document) await this.host.engine()?.compare(document.document, undefined);
    this.host.change(document, { comparing: false });
  }

  /** The next saving replaces what the file holds now. */
  async keepMine(document: OpenDocument): Promise<void> {
    const files = this.host.files();
    if (!files) return;
    try {
      this.host.change(document, { version: await versionOf(files, document), outside: undefined });
    } catch (saveError) {
      this.host.change(document, { saveError });
    }
  }

  private async found(document: OpenDocument, version: string | undefined): Promise<void> {
    if (version === document.version) this.host.change(document, { outside: undefined });
    else if (version === undefined) this.host.change(document, { outside: "deleted" });
    else if (document.dirty) this.host.change(document, { outside: "changed" });
    else if (!document.comparing) await this.host.load(document);
  }
}
