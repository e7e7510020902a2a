import { SandboxError } from "agent-sandbox-web";
import { plainName } from "./names.js";

/** An error as a person reads it. */
export interface ErrorDescription {
  /** What went wrong, in a few words. */
  title: string;
  /** The error's code, such as `E4001`; empty when it has none. */
  code: string;
  message: string;
  /** What to do about it; empty when nothing is known. */
  suggestion: string;
}

/** An error of the page itself that says what to do about it, as the client's errors do. */
export class ExplainedError extends Error {
  /**
   * @param title what went wrong, in a few words
   * @param suggestion what to do about it
   */
  constructor(
    readonly title: string,
    message: string,
    readonly suggestion: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const TITLES: Record<string, string> = {
  E0001: "That cannot be done as asked",
  E1000: "The key was refused",
  E1001: "There is no valid key",
  E2000: "The sandbox could not be started",
  E2001: "There is no such template",
  E2002: "No more sandboxes are allowed",
  E2009: "The sandbox is gone",
  E3001: "The command took too long",
  E3004: "The sandbox cannot do this",
  E4001: "Not found",
  E4002: "Not allowed",
  E5000: "The network failed",
  E5001: "The connection was lost",
  E5002: "No answer in time",
  E5003: "Too many requests",
  E5004: "Not reachable",
};

/** Describes anything that was thrown. Only the errors of the client have a code and a suggestion. */
export function describeError(error: unknown): ErrorDescription {
  if (error instanceof SandboxError) {
    const { code, message, suggestion } = error;
    return { title: TITLES[code] ?? "That did not work", code, message: plainName(message), suggestion: plainName(suggestion) };
  }
  if (error instanceof ExplainedError) {
    const { title, message, suggestion } = error;
    return { title, code: "", message, suggestion };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { title: "That did not work", code: "", message: plainName(message), suggestion: "" };
}

/** The code of an error of the client, such as `E4001`; empty for any other. */
export function codeOf(error: unknown): string {
  return error instanceof SandboxError ? error.code : "";
}

/** Whether `error` says that the sandbox is paused: that has no code of its own. */
export function isPaused(error: unknown): boolean {
  return error instanceof SandboxError && error.code === "E5004" && /\bis paus(?:ed|ing)\b/.test(error.message);
}

/** Whether `error` says that the sandbox is not there any more. */
export function isGone(error: unknown): boolean {
  return codeOf(error) === "E2009";
}
