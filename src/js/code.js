// Code cells: what the interpreter's events become.
import { camel } from "../server/js/answers.js";
import { makeError } from "./errors.js";
import { date, plain, present } from "./shape.js";

/** The forms of a result that have a name, in the order in which they are told. */
const FORMATS = ["text", "html", "markdown", "svg", "png", "jpeg", "pdf", "latex", "json", "javascript", "data", "chart"];

/** A display, or the value of the last expression. */
class Result {
  // A minifier that renames the class leaves this as it is.
  static name = "Result";

  constructor({ type, extra, is_main_result: isMain, chart, ...forms }) {
    // A figure with nothing in it has a chart with nothing in it.
    if (chart) forms.chart = { type: "unknown", elements: [], ...camel(chart) };
    for (const name of FORMATS) {
      if (forms[name] != null) this[name] = forms[name];
      delete forms[name];
    }
    this.extra = { ...forms, ...extra };
    this.isMainResult = isMain === true;
  }

  formats() {
    return [...FORMATS.filter((name) => name in this), ...Object.keys(this.extra)];
  }

  bytes(format) {
    const forms = FORMATS.includes(format) ? this : this.extra;
    if (!Object.hasOwn(forms, format)) return undefined;
    try {
      return Uint8Array.from(atob(/** @type {string} */ (forms[format])), (character) => character.charCodeAt(0));
    } catch (cause) {
      throw makeError("InvalidArgumentError", `The form ${format} of this result is no base64.`, "", { cause });
    }
  }
}

/** A cell under way: takes events, calls back, and gathers the result. */
export class Cell {
  #callbacks;
  #captures;
  /** How much more of each output is kept, in UTF-16 units. */
  #room;
  #truncated = false;
  #logs = { stdout: [], stderr: [] };
  #results = [];
  #error;
  #count;

  constructor(callbacks, room) {
    this.#callbacks = callbacks;
    this.#captures = room > 0;
    this.#room = { stdout: room, stderr: room };
  }

  /** Takes an event and gives what its callback returned, if that may be waited for; `true` at the end. */
  take(event) {
    const answer = this.#take(event);
    return answer === true || (typeof answer === "object" && answer) ? answer : undefined;
  }

  #take(event) {
    const { onStdout, onStderr, onResult, onError } = this.#callbacks;
    switch (event?.type) {
      case "stdout":
        return this.#output("stdout", onStdout, event);
      case "stderr":
        return this.#output("stderr", onStderr, event);
      case "result": {
        const result = new Result(event);
        this.#results.push(result);
        return onResult?.(result);
      }
      case "error": {
        // Behind the code's own error the interpreter may tell of another: the first one counts.
        if (this.#error) return undefined;
        const { name, value, traceback } = event;
        this.#error = { name: plain(name), value: plain(value), traceback: inLines(plain(traceback)) };
        return onError?.(this.#error);
      }
      case "number_of_executions":
        this.#count = event.execution_count;
        return undefined;
      default:
        return event?.type === "end_of_execution";
    }
  }

  #output(name, callback, { text: given, timestamp }) {
    const text = plain(given);
    const room = this.#room[name];
    const kept = text.slice(0, room);
    if (kept) this.#logs[name].push(kept);
    this.#room[name] -= kept.length;
    this.#truncated ||= this.#captures && kept.length < text.length;
    return callback?.(text, { timestamp: date(timestamp) ?? new Date() });
  }

  result(ms) {
    const [stdout, stderr] = [this.#logs.stdout.join(""), this.#logs.stderr.join("")];
    return present({
      text: this.#results.find(({ isMainResult }) => isMainResult)?.text ?? stdout.trimEnd(),
      stdout,
      stderr,
      exitCode: this.#error ? 1 : 0,
      executionTime: ms / 1000,
      outputFiles: [],
      results: this.#results,
      error: this.#error,
      executionCount: typeof this.#count === "number" ? this.#count : undefined,
      logs: this.#logs,
      truncated: this.#truncated,
    });
  }
}

/** A traceback whose first parts, the rule and the head, stand in lines of their own: interpreters glue the parts of a Python one together. */
function inLines(traceback) {
  return traceback.replace(/^(-{20,})(?=[^\s-])/, "$1\n").replace(/(Traceback \(most recent call last\))(?=[^\s:])/, "$1\n");
}

/** Parses JSON in which NaN stands as a string that nobody writes. */
export function parseWithNaN(text) {
  return JSON.parse(text, (_, value) => (value === "\0NaN" ? Number.NaN : value));
}
