/** Charts as a kernel describes them, read with care: what comes from a sandbox may be anything. */

/** What the axes of a chart say. */
export interface Axes {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
}

/** A place on an axis: a number (of a date, ms since 1970) or a text. */
export type Place = number | string;

/** Lines or points. */
export interface PointsChart extends Axes {
  readonly kind: "points";
  /** Whether the points of a series are joined by a line. */
  readonly joined: boolean;
  readonly xScale: "linear" | "log" | "time" | "text";
  readonly yScale: "linear" | "log";
  readonly series: readonly { readonly label: string; readonly points: readonly (readonly [x: Place, y: number])[] }[];
}

/** Bars, beside each other by group. */
export interface BarsChart extends Axes {
  readonly kind: "bars";
  readonly places: readonly string[];
  readonly groups: readonly string[];
  readonly bars: readonly { readonly place: string; readonly group: string; readonly value: number }[];
}

/** Parts of a whole. */
export interface PieChart extends Axes {
  readonly kind: "pie";
  readonly parts: readonly { readonly label: string; readonly share: number }[];
}

/** Boxes with whiskers. */
export interface BoxesChart extends Axes {
  readonly kind: "boxes";
  readonly boxes: readonly Box[];
}

/** A box with whiskers: five numbers in rising order, and what lies outside. */
export interface Box {
  readonly label: string;
  readonly values: readonly [min: number, first: number, median: number, third: number, max: number];
  readonly outliers: readonly number[];
}

export type DrawableChart = PointsChart | BarsChart | PieChart | BoxesChart;

// What a page can draw, and a person tell apart.
const MOST_POINTS = 20_000;
const MOST_MARKS = 400;

/** The charts of a figure that can be drawn. */
export function readCharts(value: unknown): DrawableChart[] {
  if (!isObject(value)) return [];
  const elements = list(value.elements).filter(isObject);
  if (value.type === "superchart") return elements.slice(0, 24).flatMap(readCharts);
  const axes: Axes = { title: text(value.title), xLabel: text(value.xLabel), yLabel: text(value.yLabel) };
  const chart = read(value, elements, axes);
  return chart ? [chart] : [];
}

function read(value: Record<string, unknown>, elements: readonly Record<string, unknown>[], axes: Axes): DrawableChart | undefined {
  switch (value.type) {
    case "line":
    case "scatter":
      return readPoints(value, elements, axes);
    case "bar":
      return readBars(elements, axes);
    case "pie": {
      const parts = elements
        .slice(0, MOST_MARKS)
        .map(({ label, angle }) => ({ label: text(label), share: Math.abs(number(angle)) }));
      const whole = parts.filter(({ share }) => share > 0);
      return whole.length > 0 ? { kind: "pie", ...axes, parts: whole } : undefined;
    }
    case "box_and_whisker": {
      const boxes = elements
        .slice(0, MOST_MARKS)
        .map(readBox)
        .filter((box) => box !== undefined);
      return boxes.length > 0 ? { kind: "boxes", ...axes, boxes } : undefined;
    }
    default:
      return undefined;
  }
}

function readPoints(
  value: Record<string, unknown>,
  elements: readonly Record<string, unknown>[],
  axes: Axes,
): PointsChart | undefined {
  let left = MOST_POINTS;
  const time = value.xScale === "datetime";
  const raw = elements.slice(0, MOST_MARKS).map(({ label, points }) => {
    const some = list(points).slice(0, left);
    left -= some.length;
    return { label: text(label), points: some.filter((point): point is unknown[] => Array.isArray(point)) };
  });
  const places = raw.flatMap(({ points }) => points.map(([x]) => x));
  const texts = !time && places.some((x) => typeof x === "string" && x.trim() !== "" && Number.isNaN(Number(x)));
  const place = (x: unknown): Place => (time ? Date.parse(text(x)) : texts ? text(x) : number(x));
  const series = raw.map(({ label, points }) => ({
    label,
    points: points
      .map(([x, y]) => [place(x), number(y)] as const)
      .filter(([x, y]) => Number.isFinite(y) && (typeof x === "string" || Number.isFinite(x))),
  }));
  const drawn = series.filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return undefined;
  const positive = (at: 0 | 1) => drawn.every(({ points }) => points.every((point) => Number(point[at]) > 0));
  return {
    kind: "points",
    ...axes,
    joined: value.type === "line",
    xScale: time ? "time" : texts ? "text" : value.xScale === "log" && positive(0) ? "log" : "linear",
    yScale: value.yScale === "log" && positive(1) ? "log" : "linear",
    series: drawn,
  };
}

function readBars(elements: readonly Record<string, unknown>[], axes: Axes): BarsChart | undefined {
  const bars = elements
    .slice(0, MOST_MARKS)
    .map(({ label, group, value }) => ({ place: text(label), group: text(group), value: number(value) }))
    .filter(({ value }) => Number.isFinite(value));
  if (bars.length === 0) return undefined;
  const places = [...new Set(bars.map(({ place }) => place))];
  const groups = [...new Set(bars.map(({ group }) => group))];
  return { kind: "bars", ...axes, places, groups, bars };
}

function readBox(element: Record<string, unknown>): Box | undefined {
  const { label, min, firstQuartile, median, thirdQuartile, max, outliers } = element;
  const values = [min, firstQuartile, median, thirdQuartile, max].map(number) as unknown as Box["values"];
  if (!values.every(Number.isFinite)) return undefined;
  return { label: text(label), values, outliers: list(outliers).slice(0, 2000).map(number).filter(Number.isFinite) };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).slice(0, 200) : "";
}

function number(value: unknown): number {
  return typeof value === "number" || (typeof value === "string" && value.trim() !== "") ? Number(value) : Number.NaN;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
