import { scaleLinear, scaleTime } from "d3-scale";
import { area, line } from "d3-shape";
import { css, html, LitElement, nothing, svg } from "lit";
import { property, state } from "lit/decorators.js";
import { element } from "../element.js";
import { base } from "../styles.js";
import { bottomAxis, leftAxis, type PlotBox, plotStyles, ticksOf } from "./axes.js";
import { Width } from "./width.js";

/** A value at a time, in ms since 1970. */
export interface TimedValue {
  readonly at: number;
  readonly value: number;
}

const HEIGHT = 112;

/** One value over time: a line with what lies below it, and a readout under the pointer. */
@element("sandbox-time-plot")
export class SandboxTimePlot extends LitElement {
  static override styles = [
    base,
    plotStyles,
    css`
      :host {
        display: block;
        min-width: 0;
      }
      .head {
        display: flex;
        align-items: baseline;
        gap: 8px;
        margin-bottom: 6px;
      }
      h3 {
        margin: 0;
        font-size: 12px;
        font-weight: 600;
      }
      .value {
        font-weight: 600;
        font-variant-numeric: tabular-nums;
      }
      .when {
        margin-inline-start: auto;
        color: var(--sb-muted);
        font-size: 12px;
        font-variant-numeric: tabular-nums;
      }
      .frame {
        height: ${HEIGHT}px;
      }
      .area {
        fill: var(--sb-accent);
        opacity: 0.13;
      }
      .line {
        fill: none;
        stroke: var(--sb-accent);
        stroke-width: 1.6;
        stroke-linejoin: round;
        stroke-linecap: round;
      }
      .pointer {
        stroke: var(--sb-muted);
        stroke-dasharray: 2 3;
      }
      .dot {
        fill: var(--sb-accent);
        stroke: var(--sb-surface);
        stroke-width: 1.5;
      }
    `,
  ];

  /** What is shown, such as `CPU`. */
  @property() label = "";
  /** In the order of time. */
  @property({ attribute: false }) values: readonly TimedValue[] = [];
  /** The upper end of the scale; the largest value without it. */
  @property({ type: Number }) max: number | undefined;
  /** Beginning and end, in ms since 1970. */
  @property({ attribute: false }) range: readonly [from: number, until: number] = [0, 1];
  /** Values further apart than this, in ms, are not joined: nothing is known of the time between. */
  @property({ type: Number }) gap = 30_000;
  /** Whether values are bytes: the scale then goes by KiB, MiB and so on. */
  @property({ type: Boolean }) binary = false;
  /** How a value is written. */
  @property({ attribute: false }) format: (value: number) => string = String;
  @state() private pointed: TimedValue | undefined;
  private readonly width = new Width(this);

  override render() {
    const shown = this.pointed ?? this.values.at(-1);
    const when = this.pointed ? new Date(this.pointed.at).toLocaleTimeString() : "";
    return html`
      <div class="head">
        <h3>${this.label}</h3>
        <span class="value">${shown ? this.format(shown.value) : "–"}</span>
        <span class="when">${when}</span>
      </div>
      <div class="frame" role="img" aria-label=${this.summary()} @pointermove=${this.point} @pointerdown=${this.point} @pointerleave=${this.leave}>
        ${this.width.value > 0 ? this.renderPlot() : nothing}
      </div>
    `;
  }

  private get box(): PlotBox {
    return { width: this.width.value, height: HEIGHT, left: 58, right: 4, top: 6, bottom: 18 };
  }

  private get scales() {
    const { left, right, top, bottom, width, height } = this.box;
    const highest = this.max ?? Math.max(1, ...this.values.map(({ value }) => value));
    // Round numbers of bytes are not round numbers of MiB.
    const unit = this.binary ? 1024 ** Math.floor(Math.log2(highest) / 10) : 1;
    const x = scaleTime([new Date(this.range[0]), new Date(this.range[1])], [left, Math.max(left + 1, width - right)]);
    const units = scaleLinear([0, highest / unit], [height - bottom, top]);
    if (this.max === undefined) units.nice(3);
    const ticks = ticksOf(units, 3, (value) => this.format(value * unit));
    return { x, y: (value: number) => units(value / unit), foot: height - bottom, ticks };
  }

  private renderPlot() {
    const { box } = this;
    const { x, y, foot, ticks } = this.scales;
    const parts = this.parts();
    const drawn = line<TimedValue>()
      .x(({ at }) => x(at))
      .y(({ value }) => y(value));
    const filled = area<TimedValue>()
      .x(({ at }) => x(at))
      .y0(foot)
      .y1(({ value }) => y(value));
    const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
    const { pointed } = this;
    return svg`<svg class="plot" height=${HEIGHT} viewBox=${`0 0 ${box.width} ${HEIGHT}`} aria-hidden="true">
      ${leftAxis(ticks, box)}
      ${bottomAxis(
        ticksOf(x, box.width < 420 ? 3 : 6, (date) => time.format(date)),
        box,
      )}
      ${parts.map(
        (part) => svg`<path class="area" d=${filled(part) ?? ""}></path><path class="line" d=${drawn(part) ?? ""}></path>
          ${part.length === 1 && part[0] ? svg`<circle class="dot" r="2.5" cx=${x(part[0].at)} cy=${y(part[0].value)}></circle>` : nothing}`,
      )}
      ${
        pointed
          ? svg`<line class="pointer" x1=${x(pointed.at)} x2=${x(pointed.at)} y1=${box.top} y2=${foot}></line>
              <circle class="dot" r="3.5" cx=${x(pointed.at)} cy=${y(pointed.value)}></circle>`
          : nothing
      }
    </svg>`;
  }

  /** What is drawn, cut where nothing is known. */
  private parts(): TimedValue[][] {
    const parts: TimedValue[][] = [];
    let before = Number.NEGATIVE_INFINITY;
    for (const value of this.values) {
      if (value.at < this.range[0]) continue;
      if (value.at - before > this.gap) parts.push([]);
      parts.at(-1)?.push(value);
      before = value.at;
    }
    return parts;
  }

  /** The plot in words. */
  private summary(): string {
    const last = this.values.at(-1);
    if (!last) return `${this.label}: nothing is known yet`;
    const highest = Math.max(...this.values.map(({ value }) => value));
    const minutes = Math.round((this.range[1] - this.range[0]) / 60_000);
    return `${this.label} over ${minutes} minutes: now ${this.format(last.value)}, at most ${this.format(highest)}`;
  }

  private point(event: PointerEvent) {
    const at = this.scales.x.invert(event.offsetX).getTime();
    let nearest: TimedValue | undefined;
    for (const value of this.values) {
      if (!nearest || Math.abs(value.at - at) < Math.abs(nearest.at - at)) nearest = value;
    }
    this.pointed = nearest;
  }

  private leave() {
    this.pointed = undefined;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-time-plot": SandboxTimePlot;
  }
}
