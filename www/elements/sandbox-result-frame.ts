import { css, html, LitElement, type PropertyValues } from "lit";
import { property, query, state } from "lit/decorators.js";
import { Appearance } from "./appearance.js";
import { element } from "./element.js";
import { FRAME_STYLE } from "./notebook/frame-style.js";
import { openLink } from "./open-link.js";
import { base } from "./styles.js";

const LEAST_HEIGHT = 24;
// A result that always wants to be a little higher than it is must end somewhere.
const MOST_HEIGHT = 6000;

/** What the frame tells. */
interface FrameMessage {
  readonly height?: unknown;
  readonly link?: unknown;
}

/**
 * HTML of a sandbox in a frame of another origin, as high as its content. The frame may run the HTML's scripts; it has no storage, no
 * network, and no way to this page but two messages: its height, and a link that was clicked.
 */
@element("sandbox-result-frame")
export class SandboxResultFrame extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        display: block;
      }
      iframe {
        display: block;
        width: 100%;
        border: 0;
        background: none;
      }
    `,
  ];

  /** The address of the page that shows it: the `resultsUrl` of a platform, or a copy of that page elsewhere. */
  @property({ attribute: "frame-url" }) frameUrl = "";
  /** The HTML. */
  @property({ attribute: false }) content = "";
  @state() private height = LEAST_HEIGHT;
  @query("iframe") private frame!: HTMLIFrameElement;
  private readonly appearance = new Appearance(this);
  private port: MessagePort | undefined;
  private asking = false;

  override connectedCallback() {
    super.connectedCallback();
    window.addEventListener("message", this.ready);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("message", this.ready);
    this.close();
  }

  override render() {
    // Moved in the page, a frame loads anew: then it is filled anew.
    return html`<iframe title="HTML result" sandbox="allow-scripts" referrerpolicy="no-referrer" src=${this.frameUrl}
      style="height: ${this.height}px"></iframe>`;
  }

  protected override updated(changed: PropertyValues<this>) {
    if (changed.has("content") && changed.get("content") !== undefined && this.port) {
      this.close();
      this.frame.src = this.frameUrl;
    }
    this.port?.postMessage({ dark: this.appearance.dark });
  }

  private readonly ready = (event: MessageEvent) => {
    // A sandboxed page has the origin `null`; which frame it is says its window.
    if (event.source === null || event.source !== this.frame?.contentWindow || event.origin !== "null" || this.port) return;
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    port1.onmessage = ({ data }: MessageEvent<FrameMessage>) => this.told(data);
    this.frame.contentWindow?.postMessage({ html: this.content, dark: this.appearance.dark, style: FRAME_STYLE }, "*", [port2]);
  };

  private told({ height, link }: FrameMessage) {
    if (typeof height === "number" && height > 0) this.height = Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, Math.ceil(height)));
    if (typeof link === "string") void this.follow(link);
  }

  /** Asks about a link, when a person has just clicked and no other question is open. */
  private async follow(link: string): Promise<void> {
    if (this.asking || !navigator.userActivation.isActive) return;
    this.asking = true;
    await openLink(link, this);
    this.asking = false;
  }

  private close() {
    this.port?.close();
    this.port = undefined;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-result-frame": SandboxResultFrame;
  }
}
