/** The language of a cell or context: `js` and `ts` are short for two of them. Which ones a sandbox has is its template's matter. */
export type CodeLanguage = "python" | "javascript" | "typescript" | "r" | "java" | "bash" | (string & {});

/** A code context: a kernel with variables of its own, in which one cell runs at a time. */
export interface CodeContext {
  /** Its id. */
  readonly id: string;
  /** Its kernel's language. */
  readonly language: string;
  /** The working directory it was made with. After a restart the kernel is back in its default. */
  readonly cwd: string;
}

/** Options of {@link Code.createContext}. */
export interface CreateContextOptions extends CallOptions {
  /** Default `"python"`. */
  language?: CodeLanguage | undefined;
  /** The working directory: absolute, and there. Default: the user's home. */
  cwd?: string | undefined;
}

/** When a piece of output was written. */
export interface OutputInfo {
  /** By the sandbox's clock. */
  readonly timestamp: Date;
}

/**
 * Options of {@link Code.run}. Callbacks are called in the order of the output, each after what the one before returned has settled; a
 * callback that throws or rejects interrupts the cell, and the call rejects with its error.
 */
export interface RunCodeOptions extends CallOptions {
  /** The language, whose default context is used. Default `"python"`. Ignored with a context, which has its own. */
  language?: CodeLanguage | undefined;
  /** The context to run in, or its id. Default: the default context of the language. */
  context?: CodeContext | string | undefined;
  /** The context's id; the same as `context`. */
  contextId?: string | undefined;
  /**
   * Variables for this cell alone. Interpreters write them into the code as they are, so names are letters, digits and `_`, and values
   * hold no quote, backslash, line break or NUL: others are refused with E0001.
   */
  envs?: Record<string, string> | undefined;
  /**
   * How long the cell may take, its wait for the context included, in ms; 0 = no limit. Then it is interrupted. Default 300,000.
   * Node itself ends an answer that is silent for five minutes, as a cell's is while it waits for its context.
   */
  timeoutMs?: number | undefined;
  /** Whether the result keeps `stdout`, `stderr` and `logs`: of each at most the first 64 MiB (counted in UTF-16 units). Default `true`. */
  capture?: boolean | undefined;
  /** Receives standard output as it comes: not whole lines, but whole characters. */
  onStdout?: ((text: string, info: OutputInfo) => unknown) | undefined;
  /** Receives the error output as it comes. */
  onStderr?: ((text: string, info: OutputInfo) => unknown) | undefined;
  /** Receives what the cell displays, and the value of its last expression. */
  onResult?: ((result: Result) => unknown) | undefined;
  /** Receives what the cell raised. */
  onError?: ((error: CodeError) => unknown) | undefined;
}

/** What a cell raised, or why the interpreter could not run it to its end. */
export interface CodeError {
  /** The exception's class. The interpreter's own are `ContextRestarting`, `ExecutionAborted`, `WebSocketError` and `UnexpectedEndOfExecution`. */
  readonly name: string;
  /** Its message. */
  readonly value: string;
  /** Its traceback, in lines; may hold ANSI colours. Empty for the interpreter's own. */
  readonly traceback: string;
}

/** A format of a {@link Result}: one of its members, or a MIME type in its `extra`. */
export type ResultFormat =
  | "text"
  | "html"
  | "markdown"
  | "svg"
  | "png"
  | "jpeg"
  | "pdf"
  | "latex"
  | "json"
  | "javascript"
  | "data"
  | "chart"
  | (string & {});

/** Something a cell displayed, or the value of its last expression, in every form that the kernel gave. Forms that it did not give are absent. */
export interface Result {
  /** As plain text: what Python's `repr` gives, a string without its quotes. */
  readonly text?: string | undefined;
  /** Not sanitised: show it in a frame of another origin only. */
  readonly html?: string | undefined;
  /** Markdown source. */
  readonly markdown?: string | undefined;
  /** XML. Not sanitised: as an image it is harmless, inside a page it is not. */
  readonly svg?: string | undefined;
  /** Base64; {@link Result.bytes} decodes it. */
  readonly png?: string | undefined;
  /** Base64; {@link Result.bytes} decodes it. */
  readonly jpeg?: string | undefined;
  /** Base64; {@link Result.bytes} decodes it. */
  readonly pdf?: string | undefined;
  /** LaTeX source, with its dollar signs. */
  readonly latex?: string | undefined;
  /** Any JSON value. */
  readonly json?: unknown;
  /** Source text. Never run by this package. */
  readonly javascript?: string | undefined;
  /** A data frame's columns. */
  readonly data?: Record<string, unknown[]> | undefined;
  /** What a matplotlib figure shows, beside its picture. */
  readonly chart?: Chart | undefined;
  /** Every other form by its MIME type. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** Whether this is the value of the last expression, and no display. */
  readonly isMainResult: boolean;
  /** The forms that are there: members first, then MIME types of `extra`. */
  formats(): ResultFormat[];
  /**
   * The bytes of a form that came as base64: `png`, `jpeg`, `pdf`, or a MIME type of `extra`. `undefined` when the result does not have it.
   * @throws {InvalidArgumentError} E0001 when that form is no base64
   */
  bytes(format: ResultFormat): Uint8Array<ArrayBuffer> | undefined;
}

/** How an axis is scaled. */
export type ChartScale =
  | "linear"
  | "datetime"
  | "categorical"
  | "log"
  | "symlog"
  | "logit"
  | "function"
  | "functionlog"
  | "asinh"
  | (string & {});

/** A chart with two axes. */
export interface AxesChart {
  /** The title above it. */
  readonly title?: string | undefined;
  /** The label of the x axis. */
  readonly xLabel?: string | undefined;
  /** The label of the y axis. */
  readonly yLabel?: string | undefined;
  /** From `label (unit)` or `label [unit]`. */
  readonly xUnit?: string | undefined;
  /** As `xUnit`. */
  readonly yUnit?: string | undefined;
}

/** A series of points. */
export interface PointSeries {
  /** Its name in the legend. */
  readonly label: string;
  /** Numbers, or texts (dates in ISO 8601). `null` where Python had none, or a number that JSON does not know. */
  readonly points: readonly (readonly [x: number | string | null, y: number | string | null])[];
}

/** A line or scatter chart. */
export interface PointChart extends AxesChart {
  /** What its points are joined by: a line, or nothing. */
  readonly type: "line" | "scatter";
  /** Where the x axis has marks. */
  readonly xTicks: readonly (number | string)[];
  /** What stands at them. */
  readonly xTickLabels: readonly string[];
  /** How the x axis is scaled. */
  readonly xScale: ChartScale;
  /** Where the y axis has marks. */
  readonly yTicks: readonly (number | string)[];
  /** What stands at them. */
  readonly yTickLabels: readonly string[];
  /** How the y axis is scaled. */
  readonly yScale: ChartScale;
  /** The series, in the order in which they were drawn. */
  readonly elements: readonly PointSeries[];
}

/** A bar chart. */
export interface BarChart extends AxesChart {
  /** Always this. */
  readonly type: "bar";
  /** The bars: `label` is the place on the x axis, `group` the series. */
  readonly elements: readonly { readonly label: string; readonly group: string; readonly value: number | string }[];
}

/** A pie chart. */
export interface PieChart {
  /** Always this. */
  readonly type: "pie";
  /** The title above it. */
  readonly title?: string | undefined;
  /** `angle` is in degrees. */
  readonly elements: readonly { readonly label: string; readonly angle: number; readonly radius: number }[];
}

/** A box-and-whisker chart. */
export interface BoxAndWhiskerChart extends AxesChart {
  /** Always this. */
  readonly type: "box_and_whisker";
  /** The boxes, in the order in which they were drawn. */
  readonly elements: readonly {
    readonly label: string;
    readonly min: number;
    readonly firstQuartile: number;
    readonly median: number;
    readonly thirdQuartile: number;
    readonly max: number;
    readonly outliers: readonly number[];
  }[];
}

/** Several charts in one figure. */
export interface SuperChart {
  /** Always this. */
  readonly type: "superchart";
  /** The figure's own title. */
  readonly title?: string | undefined;
  /** The charts, in the order in which they were made. */
  readonly elements: readonly Chart[];
}

/** A figure of a kind that is not recognised, or with nothing in it. Its picture is whole. */
export interface UnknownChart {
  /** Always this. */
  readonly type: "unknown";
  /** The title above it. */
  readonly title?: string | undefined;
  /** Nothing that can be relied on. */
  readonly elements: readonly unknown[];
}

/** What a figure shows. */
export type Chart = PointChart | BarChart | PieChart | BoxAndWhiskerChart | SuperChart | UnknownChart;

/** A file that a cell made. No interpreter names any so far. */
export interface OutputFile {
  /** The last part of the path. */
  readonly name: string;
  /** Where it is in the sandbox. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** What it holds. */
  readonly mimeType: string;
}

/** How a cell went. */
export interface CodeResult {
  /** The text of the main result; without one, `stdout` without white space at its end. */
  readonly text: string;
  /** Standard output; empty with `capture: false`. */
  readonly stdout: string;
  /** The error output; empty with `capture: false`. */
  readonly stderr: string;
  /** 0, or 1 when the cell raised. */
  readonly exitCode: number;
  /** From the request to the end, measured here, in seconds. */
  readonly executionTime: number;
  /** Always empty: no interpreter names files so far. */
  readonly outputFiles: readonly OutputFile[];
  /** What the cell displayed and, last if there is one, the value of its last expression. */
  readonly results: readonly Result[];
  /** What the cell raised. */
  readonly error?: CodeError | undefined;
  /** The cell's number in its context; absent when the kernel did not accept the code. */
  readonly executionCount?: number | undefined;
  /** The output as it came, piece by piece. */
  readonly logs: { readonly stdout: readonly string[]; readonly stderr: readonly string[] };
  /** Whether more output came than `capture` keeps. */
  readonly truncated: boolean;
}

/**
 * Code cells. They need a template with a code interpreter: `code-interpreter-v1`, `code-interpreter` on AgentBox. Elsewhere every method
 * rejects with {@link CapabilityNotSupportedError} (E3004).
 */
export class Code {
  private constructor();
  /**
   * Runs a cell and resolves when it has ended, also when it raised: see `error`. Variables stay in the context for later cells. Cells of
   * one context run one after the other, those of different contexts at the same time. Aborting interrupts the cell; the context lives on.
   * Never repeated.
   * @throws {CommandTimeoutError} E3001 when `timeoutMs` passed; the cell is interrupted
   * @throws {ExecutionError} E3000 when there is no such context, or no kernel for the language
   * @throws {CapabilityNotSupportedError} E3004 when the sandbox has no code interpreter
   * @throws {SandboxConnectionError} E5001 when the connection was lost
   */
  run(code: string, options?: RunCodeOptions): Promise<CodeResult>;
  /** Starts a new context. */
  createContext(options?: CreateContextOptions): Promise<CodeContext>;
  /** The contexts that there are, the default ones of the languages included. */
  listContexts(options?: CallOptions): Promise<CodeContext[]>;
  /** Gives a context a new kernel under the same id, without its variables, and returns it. A cell that runs in it ends with an error. */
  restartContext(context: CodeContext | string, options?: CallOptions): Promise<CodeContext>;
  /** Ends a context. `false` when there is none of that id. Leave the default ones alone: cells without a context would not find them. */
  removeContext(context: CodeContext | string, options?: CallOptions): Promise<boolean>;
  /** An empty object: what it holds is no text. */
  toJSON(): Record<string, never>;
}

/** What a sandbox has on top when its template has a code interpreter. */
export interface Sandbox {
  /** Code cells and their contexts. Always the same object. */
  readonly code: Code;
  /**
   * Runs a cell and resolves when it has ended, also when it raised: see `error`. The same as {@link Code.run}. Without `timeoutMs` it may
   * take 300,000 ms (0 = no limit); `executionTime` of the result is in seconds.
   * @throws {CommandTimeoutError} E3001 when `timeoutMs` passed; the cell is interrupted
   * @throws {ExecutionError} E3000 when there is no such context, or no kernel for the language
   * @throws {CapabilityNotSupportedError} E3004 when the sandbox has no code interpreter
   * @throws {SandboxConnectionError} E5001 when the connection was lost
   */
  runCode(code: string, options?: RunCodeOptions): Promise<CodeResult>;
}
