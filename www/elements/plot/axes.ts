/** The parts that plots share: where they draw, and their axes. SVG, drawn by Lit. */

import { css, nothing, type SVGTemplateResult, svg } from "lit";

/** The size of a plot and the room around what is drawn, in CSS pixels. */
export interface PlotBox {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A place on an axis, in CSS pixels, and what stands beside it. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** The ticks of a d3 scale that maps to CSS pixels. */
export function ticksOf<T>(
  scale: { (value: T): number; ticks(count: number): T[] },
  count: number,
  format: (value: T) => string,
): Tick[] {
  return scale.ticks(count).map((value) => ({ at: scale(value), label: format(value) }));
}

/** Horizontal lines with their values at the left. */
export function leftAxis(ticks: readonly Tick[], box: PlotBox): SVGTemplateResult {
  return svg`<g class="axis">${ticks.map(
    ({ at, label }) => svg`
      <line x1=${box.left} x2=${box.width - box.right} y1=${at} y2=${at}></line>
      <text x=${box.left - 6} y=${at} text-anchor="end" dominant-baseline="middle">${label}</text>`,
  )}</g>`;
}

/** The values below, and a line at the foot. Labels that would leave the plot are anchored inside. */
export function bottomAxis(ticks: readonly Tick[], box: PlotBox): SVGTemplateResult {
  const foot = box.height - box.bottom;
  const anchor = (at: number) => (at < box.left + 16 ? "start" : at > box.width - box.right - 16 ? "end" : "middle");
  return svg`<g class="axis">
    <line class="foot" x1=${box.left} x2=${box.width - box.right} y1=${foot} y2=${foot}></line>
    ${ticks.map(({ at, label }) =>
      label === ""
        ? nothing
        : svg`<text x=${at} y=${foot + 12} text-anchor=${anchor(at)} dominant-baseline="middle">${label}</text>`,
    )}
  </g>`;
}

/** What plots look like. */
export const plotStyles = css`
  svg.plot {
    display: block;
    width: 100%;
    overflow: visible;
    font: 10.5px / 1 var(--sb-font);
    font-variant-numeric: tabular-nums;
  }
  .axis line {
    stroke: var(--sb-border);
    shape-rendering: crispEdges;
  }
  .axis .foot {
    stroke: var(--sb-border-strong);
  }
  .axis text {
    fill: var(--sb-muted);
  }
`;
