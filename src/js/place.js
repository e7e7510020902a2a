// Where calls are made. An error is built when an answer has come, and the caller's frames have gone by then.

/** Whether a line of a stack is a frame. */
const isFrame = (line) => /^\s+at |@/.test(line);

/** Frames of this package: they say nothing to anybody, and their lines are long. */
const OWN_FRAME = /(?:^\s+at |@).*(?:wasm-function|wasm:|agent_sandbox_web|agent-sandbox-web\/dist\/)/;

/** Whether a line of a stack is not about this package. */
export const isForeign = (line) => !OWN_FRAME.test(line);

/** Frames that are looked at: with so many those of the caller are among them, behind the module's. */
const ENOUGH = 50;

/** What `look` gives where stacks are long enough. */
function deeply(look) {
  const { stackTraceLimit } = Error;
  Reflect.set(Error, "stackTraceLimit", ENOUGH);
  const seen = look();
  Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  return seen;
}

/** Gives an error the stack above `below`, where the runtime knows it. */
export function capture(error, below) {
  deeply(() => Error.captureStackTrace?.(error, below));
}

/** Of the call that is being made. */
let current;

/**
 * The place of the call that is being made. Its stack is written out when it is read, which is when the call fails: an `Error` costs a small
 * call a twentieth of its time, where `captureStackTrace` costs a quarter.
 */
export function place() {
  return current ?? deeply(() => new Error());
}

/** Makes a call whose place is here: in front of the module's frames, which take time to look through. */
export function callFrom(call) {
  const outer = current;
  current = new Error();
  try {
    return call();
  } finally {
    current = outer;
  }
}

/** The frames of a place that are the caller's. The first two are this file's and its caller's, under whatever names a bundler gives them. */
export function framesOf(here) {
  return here.stack?.split("\n").filter(isFrame).slice(2).filter(isForeign);
}
