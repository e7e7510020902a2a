/** How each kind of chart is drawn: SVG by Lit, and the places on it that say something under the pointer. */

import { scaleBand, scaleLinear, scaleLog, scalePoint, scaleTime } from "d3-scale";
import { arc, line, pie } from "d3-shape";
import { type SVGTemplateResult, svg } from "lit";
import type { BarsChart, BoxesChart, PieChart, Place, PointsChart } from "../notebook/charts.js";
import { bottomAxis, leftAxis, type PlotBox, type Tick, ticksOf } from "./axes.js";

/** A place of the drawing, in CSS pixels, and what it says. */
export interface Mark {
  readonly x: number;
  readonly y: number;
  readonly series: number;
  readonly text: string;
}

/** A chart as it is drawn. */
export interface Drawing {
  readonly shapes: SVGTemplateResult;
  readonly marks: readonly Mark[];
  /** Gives the value at a place on the x axis, where it can be zoomed. */
  readonly invert?: ((x: number) => number) | undefined;
}

const COLORS = [4, 1, 2, 5, 3, 6];

/** The colour of a series. */
export function seriesColor(at: number): string {
  return `var(--sb-ansi-${COLORS[at % COLORS.length]})`;
}

/** A number for people: short, without the noise of binary fractions. */
export function plain(value: number): string {
  return Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-4)
    ? value.toExponential(3).replace(/\.?0+e/, "e")
    : String(Number(value.toPrecision(6)));
}

/** Lines or points. `zoom` is the part of the x axis that is shown; `hidden` are the series that are not. */
export function drawPoints(
  chart: PointsChart,
  box: PlotBox,
  hidden: ReadonlySet<number>,
  zoom?: readonly [number, number],
): Drawing {
  const shown = chart.series.map((series, at) => ({ ...series, at })).filter(({ at }) => !hidden.has(at));
  const all = shown.flatMap(({ points }) => points);
  const {
    at: x,
    ticks,
    invert,
    written,
  } = horizontal(
    chart,
    box,
    all.map(([x]) => x),
    zoom,
  );
  const inView = all.filter(([place]) => x(place) >= box.left - 1 && x(place) <= box.width - box.right + 1);
  const y = vertical(
    chart.yScale,
    (inView.length > 0 ? inView : all).map(([, y]) => y),
    box,
  );
  const marks = shown.flatMap(({ label, points, at }) =>
    points
      .filter(([place]) => x(place) >= box.left - 1 && x(place) <= box.width - box.right + 1)
      .map(([place, value]) => ({
        x: x(place),
        y: y(value),
        series: at,
        text: `${label === "" ? "" : `${label}: `}${written(place)}, ${plain(value)}`,
      })),
  );
  const path = line<readonly [Place, number]>()
    .x(([place]) => x(place))
    .y(([, value]) => y(value));
  return {
    invert,
    marks,
    shapes: svg`${leftAxis(valueTicks(y, chart.yScale), box)}${bottomAxis(ticks, box)}
      <g clip-path="url(#inside)">
        ${
          chart.joined
            ? shown.map(({ points, at }) => svg`<path class="line" stroke=${seriesColor(at)} d=${path([...points]) ?? ""}></path>`)
            : marks.map(
                (mark) => svg`<circle cx=${mark.x} cy=${mark.y} r="3" fill=${seriesColor(mark.series)} opacity="0.75"></circle>`,
              )
        }
        ${
          chart.joined && marks.length <= 60
            ? marks.map((mark) => svg`<circle cx=${mark.x} cy=${mark.y} r="2.2" fill=${seriesColor(mark.series)}></circle>`)
            : ""
        }
      </g>`,
  };
}

/** Bars from zero. */
export function drawBars(chart: BarsChart, box: PlotBox, hidden: ReadonlySet<number>): Drawing {
  const groups = chart.groups.filter((_, at) => !hidden.has(at));
  const bars = chart.bars.filter(({ group }) => groups.includes(group));
  const y = vertical("linear", [0, ...bars.map(({ value }) => value)], box);
  const outer = scaleBand(chart.places, [box.left, box.width - box.right]).padding(0.25);
  const inner = scaleBand(groups, [0, outer.bandwidth()]).padding(groups.length > 1 ? 0.08 : 0);
  const drawn = bars.map(({ place, group, value }) => ({
    left: (outer(place) ?? 0) + (inner(group) ?? 0),
    from: y(Math.max(0, value)),
    to: y(Math.min(0, value)),
    series: chart.groups.indexOf(group),
    text: `${place}${groups.length > 1 && group !== "" ? `, ${group}` : ""}: ${plain(value)}`,
  }));
  return {
    marks: drawn.map(({ left, from, series, text }) => ({ x: left + inner.bandwidth() / 2, y: from, series, text })),
    shapes: svg`${leftAxis(valueTicks(y, "linear"), box)}
      ${bottomAxis(
        thin(
          chart.places.map((label) => ({ at: (outer(label) ?? 0) + outer.bandwidth() / 2, label })),
          box,
        ),
        box,
      )}
      ${drawn.map(
        ({
          left,
          from,
          to,
          series,
        }) => svg`<rect x=${left} width=${inner.bandwidth()} y=${from} height=${Math.max(1, to - from)} rx="2"
          fill=${seriesColor(series)}></rect>`,
      )}`,
  };
}

/** Parts of a whole. */
export function drawPie(chart: PieChart, box: PlotBox, hidden: ReadonlySet<number>): Drawing {
  const parts = chart.parts.map((part, at) => ({ ...part, at })).filter(({ at }) => !hidden.has(at));
  const whole = parts.reduce((sum, { share }) => sum + share, 0);
  const [middleX, middleY] = [box.width / 2, box.height / 2];
  const radius = Math.min(middleX, middleY) - 6;
  const shape = arc<{ startAngle: number; endAngle: number }>()
    .innerRadius(radius * 0.45)
    .outerRadius(radius)
    .padAngle(0.012);
  const arcs = pie<(typeof parts)[number]>()
    .value(({ share }) => share)
    .sort(null)(parts)
    .map((one) => {
      const [x, y] = shape.centroid(one);
      const percent = ((100 * one.data.share) / whole).toFixed(1);
      return {
        path: shape(one) ?? "",
        x: middleX + x,
        y: middleY + y,
        series: one.data.at,
        text: `${one.data.label}: ${percent} %`,
      };
    });
  return {
    marks: arcs,
    shapes: svg`<g transform=${`translate(${middleX} ${middleY})`}>
      ${arcs.map(({ path, series }) => svg`<path d=${path} fill=${seriesColor(series)}></path>`)}
    </g>`,
  };
}

/** Boxes with whiskers. */
export function drawBoxes(chart: BoxesChart, box: PlotBox): Drawing {
  const y = vertical(
    "linear",
    chart.boxes.flatMap(({ values, outliers }) => [...values, ...outliers]),
    box,
  );
  const places = chart.boxes.map((_, at) => String(at));
  const x = scaleBand(places, [box.left, box.width - box.right]).padding(0.45);
  const width = Math.min(70, x.bandwidth());
  const drawn = chart.boxes.map(({ label, values, outliers }, at) => {
    const middle = (x(String(at)) ?? 0) + x.bandwidth() / 2;
    const [min, first, median, third, max] = values;
    const words = `${label === "" ? "" : `${label}: `}median ${plain(median)}, middle half ${plain(first)} to ${plain(third)}, whiskers ${plain(min)} to ${plain(max)}`;
    return { label, middle, at, outliers, words, min: y(min), first: y(first), median: y(median), third: y(third), max: y(max) };
  });
  return {
    marks: drawn.flatMap(({ middle, at, median, words, outliers, label }) => [
      { x: middle, y: median, series: at, text: words },
      ...outliers.map((value) => ({
        x: middle,
        y: y(value),
        series: at,
        text: `${label === "" ? "" : `${label}: `}${plain(value)}`,
      })),
    ]),
    shapes: svg`${leftAxis(valueTicks(y, "linear"), box)}
      ${bottomAxis(
        thin(
          drawn.map(({ middle, label }) => ({ at: middle, label })),
          box,
        ),
        box,
      )}
      ${drawn.map(
        ({ middle, at, min, first, median, third, max, outliers }) => svg`<g stroke=${seriesColor(at)} stroke-width="1.5">
          <line x1=${middle} x2=${middle} y1=${min} y2=${first}></line><line x1=${middle} x2=${middle} y1=${third} y2=${max}></line>
          ${[min, max].map((end) => svg`<line x1=${middle - width / 4} x2=${middle + width / 4} y1=${end} y2=${end}></line>`)}
          <rect x=${middle - width / 2} width=${width} y=${third} height=${Math.max(1, first - third)} fill=${seriesColor(at)} fill-opacity="0.18"></rect>
          <line x1=${middle - width / 2} x2=${middle + width / 2} y1=${median} y2=${median} stroke-width="2.5"></line>
          ${outliers.map((value) => svg`<circle cx=${middle} cy=${y(value)} r="2.5" fill="none"></circle>`)}
        </g>`,
      )}`,
  };
}

function horizontal(chart: PointsChart, box: PlotBox, places: readonly Place[], zoom?: readonly [number, number]) {
  const range: [number, number] = [box.left + 4, Math.max(box.left + 5, box.width - box.right - 4)];
  const count = Math.max(2, Math.floor(box.width / 110));
  if (chart.xScale === "text") {
    const labels = [...new Set(places.map(String))];
    const scale = scalePoint(labels, range).padding(0.3);
    const at = (place: Place) => scale(String(place)) ?? 0;
    return {
      at,
      ticks: thin(
        labels.map((label) => ({ at: at(label), label })),
        box,
      ),
      invert: undefined,
      written: String,
    };
  }
  const [least, most] = zoom ?? extent(places.map(Number));
  if (chart.xScale === "time") {
    const scale = scaleTime([new Date(least), new Date(most)], range);
    const format = scale.tickFormat();
    const written = (place: Place) =>
      new Date(Number(place))
        .toISOString()
        .replace("T", " ")
        .replace(/(?::00)?\.000Z$/, "");
    return {
      at: (place: Place) => scale(Number(place)),
      ticks: ticksOf(scale, count, format),
      invert: (x: number) => scale.invert(x).getTime(),
      written,
    };
  }
  const scale = chart.xScale === "log" ? scaleLog([least, most], range) : scaleLinear([least, most], range);
  return {
    at: (place: Place) => scale(Number(place)),
    ticks: valueTicks(scale, chart.xScale === "log" ? "log" : "linear", count),
    invert: (x: number) => Number(scale.invert(x)),
    written: (place: Place) => plain(Number(place)),
  };
}

function vertical(kind: "linear" | "log", values: readonly number[], box: PlotBox) {
  const range: [number, number] = [box.height - box.bottom, box.top];
  return kind === "log" ? scaleLog(extent(values), range).nice() : scaleLinear(extent(values), range).nice(5);
}

type ValueScale = { (value: number): number; ticks(count: number): number[] };

/** On a logarithmic axis only the powers of ten are named. */
function valueTicks(scale: ValueScale, kind: "linear" | "log", count = 5): Tick[] {
  const all = scale.ticks(count);
  const powers = all.filter((value) => Number.isInteger(Math.log10(value)));
  const named = kind === "log" && powers.length >= 2 ? powers : all;
  return named.map((value) => ({ at: scale(value), label: plain(value) }));
}

/** The least and the most, never the same. */
function extent(values: readonly number[]): [number, number] {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (!Number.isFinite(least)) return [0, 1];
  return least === most ? [least - Math.abs(least || 1) / 2, most + Math.abs(most || 1) / 2] : [least, most];
}

/** As many labels as there is room for, shortened to it. */
function thin(ticks: readonly Tick[], box: PlotBox): Tick[] {
  const room = Math.max(1, Math.floor((box.width - box.left - box.right) / 64));
  const step = Math.ceil(ticks.length / room);
  return ticks
    .filter((_, at) => at % step === 0)
    .map(({ at, label }) => ({ at, label: label.length > 14 && ticks.length > 3 ? `${label.slice(0, 13)}…` : label }));
}
