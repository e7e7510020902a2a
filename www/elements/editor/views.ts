/** What `<sandbox-editor>` shows in place of text, and below it. */

import type { EntryInfo } from "agent-sandbox-web";
import { html, nothing, type TemplateResult } from "lit";
import { EDITABLE_BYTES, hexDump, type OpenedFile, SHOWN_IMAGE_BYTES } from "../files/open-file.js";
import { bytes } from "../format.js";
import { icon } from "../icons.js";
import { languageOf } from "../language.js";
import { baseName, plainName, visibleName } from "../names.js";
import type { OpenDocument } from "./open-document.js";

/** Nothing is open. */
export function noFile(): TemplateResult {
  return html`<div class="empty">
    ${icon("file")}
    <h2>No file is open</h2>
    <p>Choose a file in the tree, or drop files and folders onto it to upload them.</p>
  </div>`;
}

/** A picture, and what is known of it. */
export function picture(path: string, url: string, info: EntryInfo, download: () => void, broken: () => void): TemplateResult {
  return html`<figure class="picture">
    <div class="frame" tabindex="0" role="group" aria-label="Picture">
      <img src=${url} alt=${plainName(baseName(path))} @error=${broken} @load=${showSize} />
    </div>
    <figcaption>
      <span class="path">${visibleName(path)}</span>
      <span class="measured muted"></span>
      <span class="muted">${bytes(info.size)}</span>
      <button class="button" @click=${download}>${icon("download")}Download</button>
    </figcaption>
  </figure>`;
}

/** As what a text can be shown beside its source, by the name of its file: its MIME type. */
export function previewType(path: string): string | undefined {
  if (/\.(md|markdown)$/i.test(path)) return "text/markdown";
  return /\.svg$/i.test(path) ? "image/svg+xml" : undefined;
}

/** What a text describes. Nothing in it runs or is loaded; see `<sandbox-result>`. */
export function preview(path: string, text: string): TemplateResult {
  void import("../sandbox-result.js");
  return html`<div class="rendered" tabindex="0" role="group" aria-label="Preview">
    <sandbox-result .data=${{ [previewType(path) ?? "text/plain"]: text }}></sandbox-result>
  </div>`;
}

function showSize(event: Event) {
  const { naturalWidth, naturalHeight, parentElement } = event.target as HTMLImageElement;
  const place = parentElement?.parentElement?.querySelector(".measured");
  if (place) place.textContent = `${naturalWidth} × ${naturalHeight}`;
}

/** A file that is no text for the editor, by its first bytes. */
export function refused(path: string, opened: Extract<OpenedFile, { kind: "refused" }>, download: () => void): TemplateResult {
  const { reason, info, head } = opened;
  const why = {
    binary: "This is not text, so it is shown as bytes.",
    large: `At ${bytes(info.size)} it is too large for the editor, which takes up to ${bytes(EDITABLE_BYTES)}.`,
    image: `At ${bytes(info.size)} this picture is too large to be shown: up to ${bytes(SHOWN_IMAGE_BYTES)} are.`,
    special: "This is not a file with content, but a device, a pipe, a folder or a broken link.",
  }[reason];
  return html`<div class="message">
    <h2>${visibleName(baseName(path))}</h2>
    <p>${why}</p>
    <p class="muted">${info.permissions} ${info.owner} · ${bytes(info.size)}</p>
    ${reason === "special" ? nothing : html`<button class="button" @click=${download}>${icon("download")}Download</button>`}
    ${
      head.length === 0
        ? nothing
        : html`<h3>The first ${head.length} bytes</h3>
            <pre class="preview mono" tabindex="0">${reason === "large" ? new TextDecoder().decode(head) : hexDump(head)}</pre>`
    }
  </div>`;
}

/** What happened to the file of a text that has changes here, and what can be done when it is still there. */
export function outside(deleted: boolean, acts: TextActs): TemplateResult {
  return html`<div class="outside" role="status">
    ${icon("warning")}
    <span>${deleted ? "The file was deleted in the sandbox. Saving writes it anew." : "The file has changed in the sandbox, and here."}</span>
    ${deleted ? nothing : acting(acts)}
  </div>`;
}

/** What can be done with a text, by the labels of the buttons. */
export type TextActs = Readonly<Record<string, () => void>>;

/** Those buttons. */
export function acting(acts: TextActs): TemplateResult {
  return html`${Object.entries(acts).map(([label, act]) => html`<button class="button" @click=${act}>${label}</button>`)}`;
}

/** The sandbox of a text is gone. */
export function gone(dirty: boolean, acts: TextActs): TemplateResult {
  return html`<div class="outside" role="status">
    ${icon("warning")}
    <span>${dirty ? "This sandbox is gone, and the text is saved nowhere." : "This sandbox is gone, and its files with it."}</span>
    ${acting(acts)}
  </div>`;
}

/** What the marks of a comparison mean, and the way out of it. */
export function comparing(end: () => void): TemplateResult {
  return html`<div class="outside" role="status">
    <span>Green is your text, red is what the file in the sandbox holds. Saving writes your text.</span>
    <button class="button" @click=${end}>End the comparison</button>
  </div>`;
}

/** What stands of a text beside the editor. */
interface Standing {
  /** Whether a reload would lose what is not saved of it. */
  readonly unkept: boolean;
  /** Whether its sandbox is gone. */
  readonly ended: boolean;
}

/** The line below a text. */
export function status(
  document: OpenDocument,
  { line, column }: { line: number; column: number },
  standing: Standing,
): TemplateResult {
  const { path } = document;
  return html`<div class="status">
    <span class="path">${visibleName(path)}</span>
    <span role="status">${stateOf(document, standing)}</span>
    <span class="detail">Line ${line}, column ${column}</span>
    <span class="detail">${languageOf(baseName(path))?.name ?? "Plain text"}</span>
    <span class="detail">${document.document?.state.lineBreak === "\r\n" ? "CRLF" : "LF"}</span>
    <span class="detail" title="The Tab key indents.">Esc, then Tab: leave the editor</span>
  </div>`;
}

/** Where a text is saved, in words. */
function stateOf({ saving, dirty }: OpenDocument, { unkept, ended }: Standing): string {
  if (ended) return "The sandbox is gone";
  if (saving) return "Saving";
  if (!dirty) return "Saved";
  return unkept ? "Not saved, and too long to be kept across a reload" : "Not saved";
}
