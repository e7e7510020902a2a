// Async iterables over sources in WebAssembly. A source has `take()` (what is there already, or undefined), `next()` (a promise of the
// next item, undefined at the end), `leave()` (the loop was left early) and `cancel()`.

import { guardClass } from "./options.js";

const asyncDispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");

async function* steps(source) {
  let ended = false;
  try {
    for (;;) {
      const item = source.take() ?? (await source.next());
      if (item === undefined) {
        ended = true;
        return;
      }
      yield item;
    }
  } catch (error) {
    ended = true;
    throw error;
  } finally {
    if (!ended) source.leave();
  }
}

export class ChunkStream {
  #source;
  #steps;
  #readable;

  constructor(source) {
    this.#source = source;
    this.#steps = steps(source);
  }

  [Symbol.asyncIterator]() {
    return this.#steps;
  }

  async cancel() {
    this.#source.cancel();
    // A generator that never began must not begin any more.
    await this.#steps.return();
  }

  get readable() {
    this.#readable ??= new ReadableStream(
      {
        pull: async (controller) => {
          const { done, value } = await this.#steps.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: () => this.cancel(),
      },
      { highWaterMark: 0 },
    );
    return this.#readable;
  }

  [asyncDispose]() {
    return this.cancel();
  }
}

/** What a running process offers beside its output. */
class ProcessStream extends ChunkStream {
  #process;

  static {
    guardClass(ProcessStream, "ProcessStream", (self) => Object(self) === self && #process in self);
  }

  constructor(process) {
    super(process);
    this.#process = process;
  }

  get pid() {
    return this.#process.pid;
  }

  wait(options) {
    return this.#process.wait(options);
  }

  kill(options) {
    return this.#process.kill(options);
  }

  disconnect() {
    return this.cancel();
  }

  sendInput(data, options) {
    return this.#process.sendInput(data, options);
  }

  closeStdin(options) {
    return this.#process.closeStdin(options);
  }

  toJSON() {
    return { pid: this.pid };
  }

  /** What Node prints. */
  [Symbol.for("nodejs.util.inspect.custom")](_depth, options, inspect) {
    return `${this.constructor.name} ${inspect(this.toJSON(), options)}`;
  }
}

// Names are given as strings: a minifier that renames the classes leaves them as they are.
class CommandHandle extends ProcessStream {
  static name = "CommandHandle";
}

class PtyHandle extends ProcessStream {
  static name = "PtyHandle";
  #terminal;

  static {
    guardClass(PtyHandle, "PtyHandle", (self) => Object(self) === self && #terminal in self);
  }

  constructor(terminal) {
    super(terminal);
    this.#terminal = terminal;
  }

  resize(size, options) {
    return this.#terminal.resize(size, options);
  }
}

export function makeStream(source) {
  return new ChunkStream(source);
}

export function makeCommandHandle(process) {
  return new CommandHandle(process);
}

export function makePtyHandle(process) {
  return new PtyHandle(process);
}

/** A reader of a caller's stream; where there is none to be had, one that fails with the reason. */
export function readerOf(stream) {
  try {
    return stream.getReader();
  } catch (error) {
    return { read: () => Promise.reject(error), cancel: async () => {} };
  }
}

/** A piece of output as the caller sees it. */
export function outputChunk(isStderr, data) {
  return { type: isStderr ? "stderr" : "stdout", data };
}

/** The end of a process as the caller sees it. */
export function exitChunk(exitCode, error) {
  return error === undefined ? { type: "exit", exitCode } : { type: "exit", exitCode, error };
}

/** Gives an object of a class from WebAssembly its asynchronous disposal, whether or not the runtime knows the symbol. */
export function disposable(object) {
  Object.getPrototypeOf(object)[asyncDispose] ??= function () {
    return "__dispose" in this ? this.__dispose() : this.close();
  };
  return object;
}
