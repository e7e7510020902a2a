import type { Sandbox } from "agent-sandbox-web";
import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { element } from "../element.js";
import { icon } from "../icons.js";
import { plainName } from "../names.js";
import { base } from "../styles.js";
import type { OpenPort } from "./machine.js";
import { OWN_PORTS } from "./port-watch.js";
import { metricsStyles } from "./styles.js";

/** The open ports of a sandbox: their URLs to copy, and what they serve in a frame of its own origin. */
@element("sandbox-ports")
export class SandboxPorts extends LitElement {
  static override styles = [
    base,
    metricsStyles,
    css`
      .url {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      td.wide {
        /* Addresses of one sandbox differ at their beginning, those of several in their middle: they are shown whole. */
        overflow-wrap: anywhere;
        white-space: normal;
      }
      /* There is no room for more than its beginning, which says nothing: it is copied, or read in the preview. */
      @container (max-width: 560px) {
        .wide {
          display: none;
        }
      }
      .actions {
        display: flex;
        justify-content: end;
      }
      .preview {
        margin-top: 8px;
        border: 1px solid var(--sb-border);
        border-radius: var(--sb-radius);
        overflow: hidden;
      }
      .preview .head {
        margin: 0;
        padding: 2px 4px 2px 10px;
        border-bottom: 1px solid var(--sb-border);
        background: var(--sb-bg);
        flex-wrap: nowrap;
      }
      iframe {
        display: block;
        width: 100%;
        height: 340px;
        border: 0;
        background: #fff;
        color-scheme: light;
      }
      .hint {
        margin: 0;
        padding: 10px;
        color: var(--sb-muted);
      }
    `,
  ];

  @property({ attribute: false }) sandbox: Sandbox | undefined;
  /** What was read last; `undefined` before that. */
  @property({ attribute: false }) ports: readonly OpenPort[] | undefined;
  /** Whether nothing can be reached now. */
  @property({ type: Boolean }) ended = false;
  @state() private previewed: number | undefined;
  /** Counts up so that the frame is made anew. */
  @state() private round = 0;
  @state() private copied: number | undefined;

  override render() {
    const list = this.ports?.filter(({ port }) => OWN_PORTS[port] !== "envd");
    return html`
      <div class="head"><h2 id="title">Open ports ${list?.length ? html`<span class="count">${list.length}</span>` : nothing}</h2></div>
      ${list === undefined ? html`<p class="none">Reading the ports…</p>` : nothing}
      ${
        list?.length === 0
          ? html`<p class="none">Nothing listens yet. Start a server, such as <code class="mono">python3 -m http.server 8000</code>, and it
              appears here with its URL.</p>`
          : nothing
      }
      ${
        list?.length
          ? html`<div class="scroll"><table aria-labelledby="title">
              <thead><tr><th class="number">Port</th><th class="wide">URL</th><th>Process</th><th><span class="visually-hidden">Actions</span></th></tr></thead>
              <tbody>${repeat(
                list,
                ({ port }) => port,
                (open) => this.renderRow(open),
              )}</tbody>
            </table></div>`
          : nothing
      }
      ${this.previewed === undefined ? nothing : this.renderPreview(this.previewed)}
      <span class="visually-hidden" role="status">${this.copied === undefined ? "" : `The URL of port ${this.copied} is copied`}</span>
    `;
  }

  private renderRow({ port, process, loopback }: OpenPort) {
    const url = this.urlOf(port);
    const own = OWN_PORTS[port];
    const name = own ?? (process ? plainName(process.command) : "");
    const shown = port === this.previewed;
    return html`<tr>
      <td class="number">${port}</td>
      <td class="wide mono" title=${url}>${url}</td>
      <td title=${loopback ? "Listens on loopback addresses" : "Listens on every address"}>
        <span class=${own ? "chip" : ""} title=${name}>${name.length > 24 ? `${name.slice(0, 23)}…` : name || "–"}</span>
      </td>
      <td class="tight"><div class="actions">
        <button class="icon-button" title=${this.copied === port ? "Copied" : "Copy the URL"} aria-label=${`Copy the URL of port ${port}`}
          @click=${() => this.copy(port, url)}>${icon("copy")}</button>
        <button class="icon-button" title="Open in a new tab" aria-label=${`Open port ${port} in a new tab`} ?disabled=${this.ended}
          @click=${() => window.open(url, "_blank", "noopener,noreferrer")}>${icon("link")}</button>
        <button class="icon-button" title=${shown ? "Close the preview" : "Preview"} aria-label=${`Preview port ${port}`} aria-expanded=${shown}
          ?disabled=${this.ended && !shown} @click=${() => this.preview(shown ? undefined : port)}>${icon(shown ? "close" : "eye")}</button>
      </div></td>
    </tr>`;
  }

  private renderPreview(port: number) {
    const url = this.urlOf(port);
    return html`<div class="preview">
      <div class="head">
        <span class="mono url">${url}</span>
        <button class="icon-button end" title="Load it anew" aria-label="Load the preview anew" @click=${() => this.preview(port)}>${icon("refresh")}</button>
        <button class="icon-button" title="Close the preview" aria-label="Close the preview" @click=${() => this.preview(undefined)}>${icon("close")}</button>
      </div>
      ${
        this.ports?.some((open) => open.port === port)
          ? nothing
          : html`<p class="hint" role="status">Nothing listens on port ${port} any more; what is shown is old.</p>`
      }
      ${this.refusal(url) ?? this.renderFrame(port, url)}
    </div>`;
  }

  /** A new frame each time: setting the address of one anew would add to the history of the page. */
  private renderFrame(port: number, url: string) {
    // Its origin is the sandbox's own, so that it may keep its cookies and storage and reaches nothing of this page.
    return repeat(
      [`${port} ${this.round}`],
      (key) => key,
      () => html`<iframe src=${url} title=${`What port ${port} serves`} sandbox="allow-scripts allow-same-origin allow-forms"
        referrerpolicy="no-referrer" allow=""></iframe>`,
    );
  }

  /** Why a URL is not shown in a frame; `undefined` when it may be. */
  private refusal(url: string) {
    if (new URL(url).origin === location.origin) {
      return html`<p class="hint">What the sandbox serves would have this page's own origin. Open it in a new tab, or use a platform whose
        sandbox URL gives each port a host.</p>`;
    }
    if (Object.keys(this.sandbox?.network.getAccessHeaders() ?? {}).length > 0) {
      return html`<p class="hint">The ports of this sandbox are not public: requests need a token, which a frame cannot send.</p>`;
    }
    return undefined;
  }

  private urlOf(port: number): string {
    return this.sandbox?.getUrl(port) ?? "";
  }

  private preview(port: number | undefined) {
    this.previewed = port;
    this.round += 1;
  }

  private async copy(port: number, url: string): Promise<void> {
    await navigator.clipboard.writeText(url);
    this.copied = port;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-ports": SandboxPorts;
  }
}
