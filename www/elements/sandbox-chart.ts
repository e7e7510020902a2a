import { css, html, LitElement, nothing, type PropertyValues, svg } from "lit";
import { property, state } from "lit/decorators.js";
import { element } from "./element.js";
import { plainName } from "./names.js";
import type { DrawableChart } from "./notebook/charts.js";
import { type PlotBox, plotStyles } from "./plot/axes.js";
import { type Drawing, drawBars, drawBoxes, drawPie, drawPoints, type Mark, seriesColor } from "./plot/chart-parts.js";
import { Width } from "./plot/width.js";
import { base } from "./styles.js";

const HEIGHT = 300;
const REACH = 40;

/** A chart that answers: what is under the pointer is told, series are hidden by their names, and a part of the x axis is zoomed into by dragging. */
@element("sandbox-chart")
export class SandboxChart extends LitElement {
  static override styles = [
    base,
    plotStyles,
    css`
      :host {
        display: block;
        max-width: 760px;
      }
      figure {
        margin: 0;
      }
      figcaption {
        display: flex;
        flex-wrap: wrap;
        justify-content: space-between;
        gap: 0 12px;
        min-height: 22px;
        margin-bottom: 4px;
        /* The choice of the result's form lies at the end of this line. */
        padding-inline-end: 84px;
        font-weight: 600;
      }
      .frame {
        position: relative;
        height: ${HEIGHT}px;
        touch-action: pan-y;
      }
      .line {
        fill: none;
        stroke-width: 1.7;
        stroke-linejoin: round;
      }
      .pointed {
        fill: none;
        stroke: var(--sb-text);
        stroke-width: 1.5;
      }
      .chosen {
        fill: var(--sb-accent);
        opacity: 0.15;
      }
      .axis-label {
        fill: var(--sb-text);
        font-size: 11.5px;
      }
      .foot {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 2px 4px;
        margin-top: 4px;
      }
      .series {
        display: inline-flex;
        align-items: center;
        gap: 6px;
        min-height: 24px;
        padding: 1px 7px;
        border: 0;
        border-radius: 5px;
        background: none;
        font-size: 12px;
        cursor: pointer;
      }
      .series:hover {
        background: var(--sb-hover);
      }
      .series i {
        width: 10px;
        height: 10px;
        border-radius: 3px;
      }
      .series[aria-pressed="false"] {
        color: var(--sb-muted);
        text-decoration: line-through;
      }
      .said {
        color: var(--sb-muted);
        font-size: 12px;
        font-weight: 400;
        font-variant-numeric: tabular-nums;
      }
    `,
  ];

  /** The chart to draw. */
  @property({ attribute: false }) chart: DrawableChart | undefined;
  @state() private concealed: ReadonlySet<number> = new Set();
  @state() private zoom: readonly [number, number] | undefined;
  @state() private pointed: Mark | undefined;
  @state() private dragged: readonly [from: number, to: number] | undefined;
  private drawing: Drawing | undefined;
  private readonly width = new Width(this);

  protected override willUpdate(changed: PropertyValues<this>) {
    if (changed.has("chart")) {
      this.concealed = new Set();
      this.zoom = undefined;
      this.pointed = undefined;
    }
    this.drawing = this.chart && this.width.value > 0 ? draw(this.chart, this.box, this.concealed, this.zoom) : undefined;
  }

  override render() {
    const { chart, drawing } = this;
    if (!chart) return nothing;
    return html`<figure>
      <figcaption><span>${plainName(chart.title)}</span><span class="said">${plainName(this.pointed?.text ?? "")}</span></figcaption>
      <div class="frame" role="img" aria-label=${describe(chart)} @pointerdown=${this.press} @pointermove=${this.move} @pointerup=${this.release}
        @pointerleave=${this.leave}>
        ${drawing ? this.renderDrawing(chart, drawing) : nothing}
      </div>
      ${this.renderFoot(chart)}
    </figure>`;
  }

  private renderDrawing(chart: DrawableChart, { shapes }: Drawing) {
    const { box, pointed, dragged } = this;
    const foot = box.height - box.bottom;
    const across = box.width - box.left - box.right;
    return svg`<svg class="plot" height=${HEIGHT} viewBox=${`0 0 ${box.width} ${HEIGHT}`} aria-hidden="true">
      <defs><clipPath id="inside"><rect x=${box.left} y=${box.top - 4} width=${Math.max(0, across)} height=${foot - box.top + 8}></rect></clipPath></defs>
      ${shapes}
      ${dragged ? svg`<rect class="chosen" x=${Math.min(...dragged)} width=${Math.abs(dragged[1] - dragged[0])} y=${box.top} height=${foot - box.top}></rect>` : nothing}
      ${pointed ? svg`<circle class="pointed" cx=${pointed.x} cy=${pointed.y} r="5"></circle>` : nothing}
      ${chart.xLabel === "" ? nothing : svg`<text class="axis-label" x=${box.left + across / 2} y=${box.height - 5} text-anchor="middle">${plainName(chart.xLabel)}</text>`}
      ${
        chart.yLabel === ""
          ? nothing
          : svg`<text class="axis-label" transform=${`translate(11 ${(box.top + foot) / 2}) rotate(-90)`} text-anchor="middle">${plainName(chart.yLabel)}</text>`
      }
    </svg>`;
  }

  private renderFoot(chart: DrawableChart) {
    const names = seriesNames(chart);
    if (names.length < 2 && !this.zoom) return nothing;
    return html`<div class="foot">
      ${names.length < 2 ? nothing : names.map((name, at) => this.renderSeries(name, at))}
      ${this.zoom ? html`<button class="button" @click=${() => this.setZoom(undefined)}>Show all of it</button>` : nothing}
    </div>`;
  }

  private renderSeries(name: string, at: number) {
    return html`<button class="series" aria-pressed=${!this.concealed.has(at)} title="Show or hide" @click=${() => this.toggle(at)}>
      <i style=${`background: ${seriesColor(at)}`}></i>${plainName(name || `Series ${at + 1}`)}</button>`;
  }

  private get box(): PlotBox {
    const { chart, width } = this;
    return {
      width: width.value,
      height: HEIGHT,
      left: chart?.yLabel ? 70 : 54,
      right: 8,
      top: 10,
      bottom: chart?.xLabel ? 42 : 24,
    };
  }

  private toggle(at: number) {
    const hidden = new Set(this.concealed);
    if (!hidden.delete(at)) hidden.add(at);
    // Without anything there is no scale to draw by.
    if (this.chart && hidden.size < seriesNames(this.chart).length) this.concealed = hidden;
    this.pointed = undefined;
  }

  private setZoom(zoom: readonly [number, number] | undefined) {
    this.zoom = zoom;
    this.pointed = undefined;
  }

  private press(event: PointerEvent) {
    if (!this.drawing?.invert || event.pointerType === "touch" || event.button !== 0) return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    this.dragged = [event.offsetX, event.offsetX];
  }

  private move(event: PointerEvent) {
    const frame = (event.currentTarget as Element).getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    if (this.dragged) this.dragged = [this.dragged[0], Math.max(this.box.left, Math.min(x, this.box.width - this.box.right))];
    this.pointed = nearest(this.drawing?.marks ?? [], x, y);
  }

  private release() {
    const { dragged, drawing } = this;
    this.dragged = undefined;
    if (!dragged || !drawing?.invert || Math.abs(dragged[1] - dragged[0]) < 8) return;
    const [from, to] = [drawing.invert(Math.min(...dragged)), drawing.invert(Math.max(...dragged))];
    if (from < to) this.setZoom([from, to]);
  }

  private leave() {
    this.pointed = undefined;
  }
}

function draw(chart: DrawableChart, box: PlotBox, hidden: ReadonlySet<number>, zoom?: readonly [number, number]): Drawing {
  switch (chart.kind) {
    case "points":
      return drawPoints(chart, box, hidden, zoom);
    case "bars":
      return drawBars(chart, box, hidden);
    case "pie":
      return drawPie(chart, { ...box, bottom: 0 }, hidden);
    case "boxes":
      return drawBoxes(chart, box);
  }
}

/** What can be shown and hidden. */
function seriesNames(chart: DrawableChart): readonly string[] {
  switch (chart.kind) {
    case "points":
      return chart.series.map(({ label }) => label);
    case "bars":
      return chart.groups;
    case "pie":
      return chart.parts.map(({ label }) => label);
    case "boxes":
      return [];
  }
}

/** A chart in words, for who does not see it; its values are in the table beside it. */
function describe(chart: DrawableChart): string {
  const kinds = {
    points: "joined" in chart && chart.joined ? "Line chart" : "Scatter chart",
    bars: "Bar chart",
    pie: "Pie chart",
    boxes: "Box plot",
  };
  const names = seriesNames(chart).filter((name) => name !== "");
  return plainName(
    [kinds[chart.kind], chart.title, names.length > 0 ? `of ${names.join(", ")}` : ""].filter((part) => part !== "").join(" "),
  );
}

function nearest(marks: readonly Mark[], x: number, y: number): Mark | undefined {
  let [best, distance]: [Mark | undefined, number] = [undefined, REACH];
  for (const mark of marks) {
    const to = Math.hypot(mark.x - x, mark.y - y);
    if (to < distance) [best, distance] = [mark, to];
  }
  return best;
}

declare global {
  interface HTMLElementTagNameMap {
    "sandbox-chart": SandboxChart;
  }
}
