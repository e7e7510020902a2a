// The error classes. JavaScript owns them, so that they are `instanceof Error` and subclass each other; Rust names them.
// Each class has one code and a suggestion that a more precise one may replace.
import { capture, framesOf, isForeign } from "./place.js";

const GUIDE = "https://github.com/agent-sandbox-web/agent-sandbox-web/blob/main/docs/errors.md#";

/** The root of every error of this package. */
export class SandboxError extends Error {
  constructor(message, details = {}) {
    super(message);
    const { code, suggestion } = this.constructor;
    hidden(this, "name", this.constructor.className);
    trimStack(this);
    if ("cause" in details) hidden(this, "cause", details.cause);
    this.code = code;
    this.suggestion = suggestion;
    this.docsUrl = GUIDE + code.toLowerCase();
    for (const [key, value] of Object.entries(details)) {
      if (key !== "cause" && value !== undefined) this[key] = value;
    }
  }

  toJSON() {
    return { name: this.name, message: this.message, ...this };
  }
}

/** Lets an error of a call lead to where the call was made: it was built later, when the caller's frames had gone. */
export function leadTo(error, here) {
  if (!(error instanceof SandboxError)) return;
  const frames = framesOf(here);
  if (!frames?.length) return;
  const head = `${error.name}: ${error.message}`;
  hidden(error, "stack", [...(error.stack?.startsWith(head) ? [head] : []), ...frames].join("\n"));
}

/** Lets the stack begin at the caller, where the runtime knows it. */
function trimStack(error) {
  // Anew, with the error's own name in its first line.
  capture(error, error.constructor);
  const lines = error.stack?.split("\n").filter(isForeign);
  if (lines) hidden(error, "stack", lines.join("\n"));
}

/** Sets a property that printing and copying leave out, as `Error` itself does with its own. */
export function hidden(target, key, value) {
  Object.defineProperty(target, key, { value, writable: true, configurable: true, enumerable: false });
}

export class InvalidArgumentError extends SandboxError {}
export class PanicError extends SandboxError {}
export class AuthenticationError extends SandboxError {}
export class InvalidAPIKeyError extends AuthenticationError {}
export class TokenExchangeError extends AuthenticationError {}
export class SandboxCreationError extends SandboxError {}
export class TemplateNotFoundError extends SandboxCreationError {}
export class QuotaExceededError extends SandboxCreationError {}
export class SandboxNotFoundError extends SandboxError {}
export class ExecutionError extends SandboxError {}
export class CommandTimeoutError extends ExecutionError {}
export class ProcessError extends ExecutionError {}
export class CapabilityNotSupportedError extends SandboxError {}
export class EnvdRpcError extends SandboxError {}
export class FileOperationError extends SandboxError {}
export class FileNotFoundError extends FileOperationError {}
export class PermissionDeniedError extends FileOperationError {}
export class NetworkError extends SandboxError {}
export class SandboxConnectionError extends NetworkError {}
export class RequestTimeoutError extends NetworkError {}
export class RateLimitError extends SandboxError {}
export class UnreachableError extends NetworkError {}
export class ProviderFeatureNotSupportedError extends CapabilityNotSupportedError {}
export class CommandNotFoundError extends ExecutionError {}
export class ServerAPIError extends SandboxError {}
export class CommandArgumentError extends ServerAPIError {}
export class CommandExecutionError extends ServerAPIError {}
export class ServerAuthError extends ServerAPIError {}
export class PolicyDeniedError extends ServerAPIError {}
export class FilePolicyDeniedError extends PolicyDeniedError {}
export class EndpointNotAvailableError extends ServerAPIError {}
export class PayloadTooLargeError extends ServerAPIError {}
export class RateLimitedError extends ServerAPIError {}

// By their names as keys: a minifier that renames the classes leaves those as they are.
const classes = {};
for (const [named, code, suggestion] of [
  [{ SandboxError }, "E0000", "Try again; if it stays, report it with the code and the message."],
  [{ InvalidArgumentError }, "E0001", "Correct the argument that the message names."],
  [{ PanicError }, "E0002", "Create a new client and report what led here."],
  [{ AuthenticationError }, "E1000", "Check that the key or token is the right one for this platform and has not been revoked."],
  [{ InvalidAPIKeyError }, "E1001", "Pass a valid key in the option apiKey."],
  [{ TokenExchangeError }, "E1004", "Create an API key for sandboxes in the cloud's console and pass it as apiKey."],
  [{ SandboxCreationError }, "E2000", "Try again in a moment; if it stays, try another template or ask the platform's support."],
  [{ TemplateNotFoundError }, "E2001", "Check the template's name, and that the API key may use it."],
  [{ QuotaExceededError }, "E2002", "End sandboxes that are not needed, or ask the platform for a higher limit."],
  [{ SandboxNotFoundError }, "E2009", "It has ended, expired or belongs to another account: create a new one."],
  [
    { ExecutionError },
    "E3000",
    "Check that the process or code context is still there; commands.list and code.listContexts show them.",
  ],
  [{ CommandTimeoutError }, "E3001", "Raise timeoutMs (0 = no limit), or run the command in the background."],
  [{ ProcessError }, "E3002", "Look at stderr and exitCode of this error."],
  [{ CapabilityNotSupportedError }, "E3004", "Use a template that has this ability."],
  [{ EnvdRpcError }, "E3006", "Look at rpcCode and the message; trying again may help."],
  [{ FileOperationError }, "E4000", "Look at the message: the disk may be full or the path in use."],
  [{ FileNotFoundError }, "E4001", "Check the path. Relative paths start at the user's home."],
  [{ PermissionDeniedError }, "E4002", "Use a path that the user may touch, or another user."],
  [{ NetworkError }, "E5000", "Check the network and the URLs, then try again."],
  [{ SandboxConnectionError }, "E5001", "Check that the platform runs and is reachable from here, then try again."],
  [{ RequestTimeoutError }, "E5002", "Try again, or raise requestTimeoutMs (0 = no limit)."],
  [{ RateLimitError }, "E5003", "Wait for retryAfterMs, then try again; make fewer calls at a time."],
  [{ UnreachableError }, "E5004", "Check with Sandbox.getInfo whether it runs; Sandbox.connect resumes a paused one."],
  [{ ProviderFeatureNotSupportedError }, "E8004", "Leave the option out, or use a provider that has it."],
  [
    { CommandNotFoundError },
    "E3005",
    "Compare the name with commands.list(), and check that the server was started with the commands file.",
  ],
  [{ ServerAPIError }, "E9000", "Look at the message, statusCode and errorType of this error."],
  [{ CommandArgumentError }, "E9000", "Compare the arguments with commands.list()."],
  [{ CommandExecutionError }, "E9000", "The command itself failed: look at errorType and the message."],
  [{ ServerAuthError }, "E9001", "Pass the server's own token in the option token; the sandbox's token is another one."],
  [{ PolicyDeniedError }, "E9002", "Use a token that holds the scope, or have the policy changed."],
  [{ FilePolicyDeniedError }, "E9002", "Use a path that the policy allows, or have the policy changed."],
  [{ EndpointNotAvailableError }, "E9003", "Ask discover() and can() first, or have the policy turn the endpoint on."],
  [{ PayloadTooLargeError }, "E9004", "Send or ask for less at a time, or have the policy's limit raised."],
  [{ RateLimitedError }, "E9005", "Wait for retryAfter seconds, then try again."],
]) {
  const [[className, Class]] = Object.entries(named);
  Object.assign(Class, { className, code, suggestion });
  classes[className] = Class;
}

// Some classes are of two families: the second is looked up here, since a class extends only one.
ServerAuthError.secondParent = AuthenticationError;
FilePolicyDeniedError.secondParent = PermissionDeniedError;
EndpointNotAvailableError.secondParent = CapabilityNotSupportedError;
Object.defineProperty(SandboxError, Symbol.hasInstance, {
  value(error) {
    return Function.prototype[Symbol.hasInstance].call(this, error) || (error instanceof Error && isBelow(error.constructor, this));
  },
});

/**
 * Whether a class is another one, or below it: by a second parent, or as one of the same name in another copy of this package, which a page
 * may hold too. A class that somebody made of ours has no name of its own here.
 */
function isBelow(Class, other) {
  for (; typeof Class === "function"; Class = Object.getPrototypeOf(Class)) {
    if (Class === other || (nameOf(Class) && nameOf(Class) === nameOf(other))) return true;
    if (Object.hasOwn(Class, "secondParent") && isBelow(Class.secondParent, other)) return true;
  }
  return false;
}

const nameOf = (Class) => Object.hasOwn(Class, "className") && Class.className;

/** The error for what the module itself refuses with a text of its own: being called on an object that it did not make. */
export function refused(text) {
  if (!text.startsWith("null pointer")) return new Error(text);
  const suggestion = "Objects come from Sandbox.create, connect and attach, and from what those give.";
  return makeError("InvalidArgumentError", "This object was not made by the client.", suggestion, {});
}

/** Builds an error for Rust. An empty suggestion leaves the class's own. */
export function makeError(className, message, suggestion, details) {
  const error = new classes[className](message, details);
  if (suggestion) error.suggestion = suggestion;
  return error;
}
