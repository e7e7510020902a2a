// What callers hand in, read and checked. What is wrong is said by its name, in an InvalidArgumentError (E0001).
import { makeError } from "./errors.js";
import { isCallable, isRecord, kind, option } from "./shape.js";

function refuse(message) {
  throw makeError("InvalidArgumentError", message, "", {});
}

/** Whether it does what a signal does, whoever made it. */
function isSignal(value) {
  try {
    return (
      typeof value.aborted === "boolean" &&
      typeof value.addEventListener === "function" &&
      typeof value.removeEventListener === "function"
    );
  } catch {
    return false;
  }
}

/** What a value may have to be, by its number in Rust: in words, and as a test. */
const KINDS = [
  ["a string", (value) => typeof value === "string"],
  ["a boolean", (value) => typeof value === "boolean"],
  ["a function, and not a class", isCallable],
  ["a class", (value) => typeof value === "function"],
  ["an object", isRecord],
  ["a duration in ms, 0 or more", (value) => Number.isFinite(value) && value >= 0],
  ["an AbortSignal", isSignal],
];

/** A property that must be of this kind, if it is there. */
export function checked(of, name, number) {
  const value = option(of, name);
  const [expected, is] = KINDS[number];
  if (value === undefined || is(value)) return value;
  return refuse(`${name} must be ${expected}, not ${kind(value)}.`);
}

/** Half a surrogate pair has no place in UTF-8. Newer runtimes look for one themselves, which costs a small call less. */
const isWellFormed = (text) => text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text);

/** A string that is whole: half a surrogate pair is no character, and on its way would become another. */
export function whole(name, value) {
  if (typeof value !== "string") refuse(`${name} must be a string, not ${kind(value)}.`);
  if (!isWellFormed(value)) refuse(`${name} must not contain a lone surrogate (half of a UTF-16 pair).`);
  return value;
}

/** One without NUL, which ends strings in the system that a sandbox runs. */
export function text(name, value) {
  return whole(name, value).includes("\0") ? refuse(`${name} must not contain a NUL character.`) : value;
}

/** One with something in it. */
export function argument(name, value) {
  return text(name, value) || refuse(`${name} must not be empty.`);
}

/** The same of a property, if it is there. */
export function checkedText(of, name) {
  const value = option(of, name);
  return value === undefined ? value : argument(name, value);
}

/** A whole number between two bounds, both included. */
export function integer(name, value, from, to) {
  if (Number.isInteger(value) && value >= from && value <= to) return value;
  return refuse(`${name} must be a whole number from ${from} to ${to}.`);
}

/** The same of a property, if it is there. */
export function checkedInteger(of, name, from, to) {
  const value = option(of, name);
  return value === undefined ? value : integer(name, value, from, to);
}

/** The JSON of a message about a path. */
export function pathMessage(path) {
  return JSON.stringify({ path: argument("path", path) });
}

/** The JSON of a message about two. */
export function pathsMessage(source, destination) {
  return JSON.stringify({ source: argument("source", source), destination: argument("destination", destination) });
}
