// Commands and background processes through the server.
import { makeError } from "../../js/errors.js";
import { camel } from "./answers.js";
import { define, fields, Group, linked, linkOf, pause } from "./link.js";

const POLL_OUTPUT = 5000;
const POLL_STATE = 1000;

export class ServerProcesses extends Group {
  /** Processes that were started here: one that the server does not know any more has ended. */
  #started = new Set();

  shellStream(command, options) {
    return linkOf(this).events("shell_stream", fields(options, { command }));
  }

  async runStream(command, options) {
    const { onStdout, onStderr, ...call } = fields(options);
    const result = { stdout: "", stderr: "", exitCode: 0, truncated: false };
    for await (const { event, data, exitCode, error } of this.shellStream(command, call)) {
      if (event === "exit") result.exitCode = exitCode;
      else if (event === "error") throw streamError(error);
      else {
        const line = `${data}\n`;
        result[event] += line;
        (event === "stdout" ? onStdout : onStderr)?.(line);
      }
    }
    return result;
  }

  async start(command, options) {
    const answer = await linkOf(this).call("process_start", fields(options, { command }));
    this.#started.add(answer.pid);
    return { state: "running", ...camel(answer) };
  }

  async signal(pid, sig = 15, options = undefined) {
    return camel(await linkOf(this).call("process_signal", fields(options, { pid, sig })));
  }

  terminate(pid, options) {
    return this.signal(pid, 15, options);
  }

  kill(pid, options) {
    return this.signal(pid, 9, options);
  }

  closeStdin(pid, options) {
    return this.sendStdin(pid, undefined, fields(options, { eof: true }));
  }

  follow(pid, options) {
    let { since = 0, pollMs = POLL_OUTPUT, signal, ...call } = fields(options);
    const stop = linked(signal);
    let seen = this.#started.has(pid);
    let done = false;
    let events = [];
    const next = async () => {
      while (events.length === 0 && !done) {
        try {
          const output = await this.output(pid, { ...call, signal: stop.signal, since, waitMs: pollMs });
          events = output.events;
          since = output.next;
          // The last output can come behind the news of the end.
          done = output.state !== "running" && events.length === 0;
          seen = true;
        } catch (error) {
          if (!seen || error?.statusCode !== 404) throw error;
          done = true;
        }
      }
      if (done) stop.release();
      return events.shift();
    };
    return linkOf(this).stream({ next, cancel: stop.abort });
  }

  async wait(pid, options) {
    const { timeoutMs, pollMs = POLL_STATE, ...call } = fields(options);
    const deadline = timeoutMs === undefined ? Infinity : performance.now() + timeoutMs;
    let seen = this.#started.has(pid);
    for (;;) {
      try {
        const process = await this.get(pid, call);
        if (process.state !== "running") return process.exitCode;
        seen = true;
      } catch (error) {
        if (seen && error?.statusCode === 404) return undefined;
        throw error;
      }
      const left = deadline - performance.now();
      if (left <= 0) {
        throw makeError(
          "CommandTimeoutError",
          `The process ${pid} did not end within ${timeoutMs} ms.`,
          "Raise timeoutMs; the process goes on.",
          {},
        );
      }
      await pause(Math.min(pollMs, left), call.signal);
    }
  }
}

define(ServerProcesses, "process.", {
  shell: ["shell", ["command"], (answer) => ({ truncated: false, ...camel(answer) })],
  list: ["process_list", [], (answer) => camel(answer.processes ?? [])],
  get: ["process_detail", ["pid"], camel],
  sendStdin: ["process_stdin", ["pid", "data"], camel],
  output: ["process_output", ["pid"], camel],
  shellStream: "shell_stream",
  runStream: "shell_stream",
  start: "process_start",
  wait: "process_detail",
  signal: "process_signal",
  terminate: "process_signal",
  kill: "process_signal",
  closeStdin: "process_stdin",
  follow: "process_output",
});

/** What a stream said went wrong. */
function streamError(error) {
  if (error === "timeout")
    return makeError("CommandTimeoutError", "The command ran longer than its timeoutMs and was killed.", "Raise timeoutMs.", {});
  const details = { statusCode: 0, errorType: "", errorCode: "", endpoint: "shell_stream", rule: "" };
  if (error === "output_limit")
    return makeError("PayloadTooLargeError", "The command's output met the server's limit.", "", details);
  return makeError("ServerAPIError", error || "The command could not be run.", "", details);
}
