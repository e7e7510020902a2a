/** The root of every error of this package. */
export class SandboxError extends Error {
  /** Such as `"E4001"`. */
  readonly code: string;
  /** What to do about it. */
  readonly suggestion: string;
  /** The page of the guide on this code. */
  readonly docsUrl: string;
  /** The HTTP status, when an answer caused it. */
  readonly status?: number | undefined;
  /** What led to it: an error of the runtime, or what a server answered. */
  override readonly cause?: unknown;
  /** What a log needs, and what else the class has, such as `exitCode`; without `cause` and stack. */
  toJSON(): {
    name: string;
    code: string;
    message: string;
    suggestion: string;
    docsUrl: string;
    status?: number;
    [detail: string]: unknown;
  };
}
/** E0001: an argument or option is wrong. No request was made, unless the server said so. */
export class InvalidArgumentError extends SandboxError {}
/** E0002: the client itself failed; create a new one. */
export class PanicError extends SandboxError {}
/** E1000: the key or token was refused. */
export class AuthenticationError extends SandboxError {}
/** E1001: there is no API key, or one of a wrong form. */
export class InvalidAPIKeyError extends AuthenticationError {}
/** E1004: cloud key pairs cannot be exchanged for an API key. */
export class TokenExchangeError extends AuthenticationError {}
/** E2000: the sandbox could not be started. */
export class SandboxCreationError extends SandboxError {}
/** E2001: no such template. */
export class TemplateNotFoundError extends SandboxCreationError {}
/** E2002: the platform allows no more. */
export class QuotaExceededError extends SandboxCreationError {}
/** E2009: no such sandbox, or it is gone. */
export class SandboxNotFoundError extends SandboxError {}
/** E3000: running something failed. */
export class ExecutionError extends SandboxError {}
/** E3001: a command ran longer than its `timeoutMs` and was killed, or a code cell and was interrupted. */
export class CommandTimeoutError extends ExecutionError {
  /** What the command had written until then, as in {@link CommandResult}; absent for code cells and where output was read by a loop. */
  readonly stdout?: string | undefined;
  /** The error output until then. */
  readonly stderr?: string | undefined;
}
/** E3002: a command ended with a non-zero exit code and `check` was asked for. */
export class ProcessError extends ExecutionError {
  /** The exit code; -1 when a signal ended the process. */
  readonly exitCode: number;
  /** Standard output, as in {@link CommandResult}. */
  readonly stdout: string;
  /** The error output, as in {@link CommandResult}. */
  readonly stderr: string;
}
/** E3004: the sandbox has no such ability. */
export class CapabilityNotSupportedError extends SandboxError {}
/** E3006: envd answered with an error that has no class of its own. */
export class EnvdRpcError extends SandboxError {
  /** The Connect code, such as `"internal"`. */
  readonly rpcCode: string;
}
/** E4000: a file operation failed. */
export class FileOperationError extends SandboxError {}
/** E4001: no such file or directory. */
export class FileNotFoundError extends FileOperationError {}
/** E4002: the file may not be touched. */
export class PermissionDeniedError extends FileOperationError {}
/** E5000: the network failed. */
export class NetworkError extends SandboxError {}
/** E5001: the connection was lost, or could not be made. */
export class SandboxConnectionError extends NetworkError {}
/** E5002: no answer within `requestTimeoutMs`. */
export class RequestTimeoutError extends NetworkError {}
/** E5003: too many requests. */
export class RateLimitError extends SandboxError {
  /** When to try again, in ms, if the server said so. */
  readonly retryAfterMs?: number | undefined;
}
/** E5004: the sandbox is unreachable or not running; in a page a gateway's answer cannot be told apart from no network. */
export class UnreachableError extends NetworkError {}
/** The same classes under the names of the Python SDK. */
export { FileNotFoundError as FileNotFoundError_, SandboxConnectionError as ConnectionError_ };
/** E8004: the provider cannot do this. Thrown before any request. */
export class ProviderFeatureNotSupportedError extends CapabilityNotSupportedError {}
