// The types as a consumer meets them; compiled by `types.test.ts`, never run. `Same<A, B>` fails to compile unless both are one type.
import {
  AsyncSandbox,
  type Chart,
  type ChartScale,
  type ChunkStream,
  type CodeContext,
  type CodeError,
  type CodeResult,
  type CommandHandle,
  type CommandResult,
  FileNotFoundError,
  type init,
  type ProcessChunk,
  ProcessError,
  type Result,
  Sandbox,
  SandboxError,
  type SandboxInfo,
  type SandboxStatus,
  type WatchEvent,
} from "agent-sandbox-web";
import wasm from "agent-sandbox-web/agent_sandbox_web_bg.wasm";
import { init as initManually } from "agent-sandbox-web/manual";
import { createRelay } from "agent-sandbox-web/relay";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
declare function same<A, B>(proof: Same<A, B>): void;

export async function loading(): Promise<void> {
  await initManually(wasm);
  await initManually(new Uint8Array());
  void createRelay;
}

export async function creating(): Promise<void> {
  same<ReturnType<typeof init>, Promise<void>>(true);
  const byName = await Sandbox.create("base", { timeoutMs: 1, metadata: { a: "b" }, envs: {} });
  const byOptions = await Sandbox.create({ template: "base", apiKey: async () => "key" });
  const plain: Sandbox = await Sandbox.create();
  const alias: Sandbox = await AsyncSandbox.connect(plain.id);
  same<typeof byName, Sandbox>(true);
  same<typeof byOptions, Sandbox>(true);
  const infos: SandboxInfo[] = await Sandbox.list({ status: ["running", "paused"] }).toArray();
  for await (const info of Sandbox.list()) same<typeof info, SandboxInfo>(true);
  const attached: Sandbox = await Sandbox.attach(alias.handoff());
  await using owned = await Sandbox.create();
  void [infos, attached, owned];
  // @ts-expect-error A template is a name.
  await Sandbox.create(5);
  // @ts-expect-error There is no such option.
  await Sandbox.create({ timeout: 5 });
  // @ts-expect-error Sandboxes are made by create, connect and attach.
  new Sandbox();
}

export async function running({ commands }: Sandbox): Promise<void> {
  const result = await commands.run("x");
  same<typeof result, CommandResult>(true);
  const handle = await commands.run(["x", "y"], { background: true });
  same<typeof handle, CommandHandle>(true);
  const bytes = await commands.start("x", { output: "bytes" });
  same<typeof bytes, CommandHandle<Uint8Array<ArrayBuffer>>>(true);
  const text = await commands.start("x");
  same<typeof text, CommandHandle>(true);
  const stream = commands.stream("x");
  same<typeof stream, ChunkStream<ProcessChunk>>(true);
  const byteStream = commands.stream("x", { output: "bytes" });
  same<typeof byteStream, ChunkStream<ProcessChunk<Uint8Array<ArrayBuffer>>>>(true);
  for await (const chunk of stream) {
    if (chunk.type === "exit") same<typeof chunk.exitCode, number>(true);
    else same<typeof chunk.data, string>(true);
  }
  const connected = await commands.connect(1);
  same<typeof connected, CommandHandle>(true);
  await commands.sendSignal(1, "SIGTERM");
  // @ts-expect-error Only SIGTERM and SIGKILL can be sent.
  await commands.sendSignal(1, "SIGHUP");
  // @ts-expect-error A program must be named.
  await commands.run([]);
  // What a callback returns is waited for and else of no interest.
  await commands.run("x", { onStdout: (text) => text === "x", onStderr: async (text) => text.length });
}

export async function calculating(sandbox: Sandbox): Promise<void> {
  const context = await sandbox.code.createContext({ language: "python", cwd: undefined });
  same<typeof context, CodeContext>(true);
  const result = await sandbox.runCode("1", {
    context,
    onStdout: async (text, { timestamp }) => {
      same<typeof text, string>(true);
      same<typeof timestamp, Date>(true);
    },
    onResult: (one) => {
      same<typeof one, Result>(true);
    },
    onError: ({ traceback }) => traceback.length,
  });
  same<typeof result, CodeResult>(true);
  same<typeof result.error, CodeError | undefined>(true);
  for (const { chart, json, ...rest } of result.results) {
    same<typeof json, unknown>(true);
    if (chart?.type === "bar") same<(typeof chart.elements)[number]["group"], string>(true);
    else if (chart?.type === "superchart") same<(typeof chart.elements)[number], Chart>(true);
    else if (chart?.type === "line") same<typeof chart.xScale, ChartScale>(true);
    same<ReturnType<typeof rest.bytes>, Uint8Array<ArrayBuffer> | undefined>(true);
  }
  same<ReturnType<typeof sandbox.code.restartContext>, Promise<CodeContext>>(true);
  same<ReturnType<typeof sandbox.code.removeContext>, Promise<boolean>>(true);
  await sandbox.code.run("1", { contextId: context.id, language: "bash", signal: undefined, capture: false });
  // @ts-expect-error Code is text.
  await sandbox.runCode(1);
  // @ts-expect-error Seconds are not taken.
  await sandbox.runCode("1", { timeout: 5 });
}

export async function reading({ files }: Sandbox): Promise<void> {
  const text = await files.read("a");
  same<typeof text, string>(true);
  const encoded = await files.read("a", { format: "text", encoding: "latin1" });
  same<typeof encoded, string>(true);
  const bytes = await files.read("a", { format: "bytes" });
  same<typeof bytes, Uint8Array<ArrayBuffer>>(true);
  const blob = await files.read("a", { format: "blob" });
  same<typeof blob, Blob>(true);
  const stream = await files.read("a", { format: "stream" });
  same<typeof stream, ReadableStream<Uint8Array<ArrayBuffer>>>(true);
  const watch = await files.watch("a", { recursive: true });
  same<typeof watch, ChunkStream<WatchEvent>>(true);
  // A consumer with `exactOptionalPropertyTypes` may pass undefined for what it does not want to set.
  await files.list("a", { depth: 2, user: undefined, signal: undefined });
  // @ts-expect-error There is no such format.
  await files.read("a", { format: "json" });
}

export async function typing(sandbox: Sandbox): Promise<void> {
  const session = await sandbox.getTerminal({ cols: 80 });
  const chunk = await session.receive(1);
  same<typeof chunk, Uint8Array<ArrayBuffer> | undefined>(true);
  const end = await session.closed;
  if (end.reason === "lost") same<typeof end.error, SandboxError | undefined>(true);
  // @ts-expect-error There is no such reason.
  if (end.reason === "bored") return;
}

export function failing(error: unknown): string {
  if (error instanceof ProcessError) return `${error.exitCode} ${error.stderr}`;
  if (error instanceof FileNotFoundError) same<typeof error.code, string>(true);
  return error instanceof SandboxError ? error.suggestion : "";
}

export function shown(sandbox: Sandbox): void {
  same<ReturnType<typeof sandbox.toJSON>, { sandboxId: string; status: SandboxStatus; template: string }>(true);
  same<ReturnType<typeof sandbox.files.toJSON>, Record<string, never>>(true);
}
