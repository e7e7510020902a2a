/** The clients for JavaScript that the scenario drives, and the few members in which they differ. */
import { Sandbox as OurSandbox, type SandboxInfo } from "agent-sandbox-web";
import type * as E2b from "e2b";
import type { PlatformInfo } from "../support/platform.ts";

/** An SDK under test; both versions have the face of the older one. */
export type Sdk = typeof E2b;

interface Query {
  readonly metadata: Record<string, string>;
  readonly state?: "running" | "paused";
  readonly limit?: number;
}

/** What a client is driven by. Members that all have under one name, with one meaning, are called on its classes, typed as e2b has them. */
export interface Client {
  readonly Sandbox: Sdk["Sandbox"];
  readonly options: { apiKey: string; apiUrl: string; sandboxUrl: string };
  /** What a sandbox was made of, and what it does now. */
  read(info: E2b.SandboxInfo): { template: string; state: string };
  list(query: Query): E2b.SandboxPaginator;
  /** A command's result, also of one that failed. */
  ended(result: Promise<E2b.CommandResult>): Promise<Pick<E2b.CommandResult, "exitCode" | "stdout" | "stderr">>;
  /** Types into a command. */
  type(commands: E2b.Commands, pid: number, text: string): Promise<void>;
  move(files: E2b.Filesystem, from: string, to: string): Promise<E2b.EntryInfo>;
  /** Hears of changes as e2b names them, `create new.txt`; gives what ends it. */
  watch(files: E2b.Filesystem, path: string, recursive: boolean, heard: (event: string) => void): Promise<() => Promise<unknown>>;
  /** URLs that carry their permission for a minute, and the headers that say whose they are where the URL does not. */
  signed(sandbox: E2b.Sandbox, path: string): Promise<{ download: string; upload: string; headers: Record<string, string> }>;
  /** A terminal whose output is heard. */
  terminal(sandbox: E2b.Sandbox, options: TerminalOptions, heard: (bytes: Uint8Array) => void): Promise<E2b.CommandHandle>;
}

interface TerminalOptions {
  readonly rows: number;
  readonly cols: number;
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly envs?: Record<string, string>;
}

export function e2bClient(sdk: Sdk, { apiKey, apiUrl }: PlatformInfo): Client {
  const options = { apiKey, apiUrl, sandboxUrl: apiUrl };
  return {
    Sandbox: sdk.Sandbox,
    options,
    read: ({ templateId, state }) => ({ template: templateId, state }),
    list: ({ metadata, state, limit }) =>
      sdk.Sandbox.list({
        query: { metadata, ...(state && { state: [state] }) },
        ...(limit !== undefined && { limit }),
        ...options,
      }),
    ended: (result) =>
      result.catch((error: unknown) => {
        if (error instanceof sdk.CommandExitError) return error;
        throw error;
      }),
    type: (commands, pid, text) => commands.sendStdin(pid, text),
    move: (files, from, to) => files.rename(from, to),
    watch: async (files, path, recursive, heard) => {
      const watch = await files.watchDir(path, ({ type, name }) => heard(`${type} ${name}`), { recursive });
      return () => watch.stop();
    },
    signed: async (sandbox, path) => {
      const signing = { user: "user", useSignatureExpiration: 60_000 };
      return {
        download: await sandbox.downloadUrl(path, signing),
        upload: await sandbox.uploadUrl(path, signing),
        // Below one URL for all sandboxes, a signed URL does not say whose it is.
        headers: { "E2b-Sandbox-Id": sandbox.sandboxId, "E2b-Sandbox-Port": "49983" },
      };
    },
    terminal: (sandbox, options, heard) => sandbox.pty.create({ ...options, onData: heard }),
  };
}

/** What this client calls the changes that e2b calls otherwise. */
const CHANGES: Record<string, string> = { created: "create", modified: "write", renamed: "rename", deleted: "remove" };

export function ourClient({ apiKey, apiUrl, sandboxUrl }: PlatformInfo): Client {
  const options = { apiKey, apiUrl, sandboxUrl };
  // The types of e2b stand for what is named alike; what is not is called here, by its own type.
  const own = <T>(value: unknown) => value as T;
  return {
    Sandbox: own(OurSandbox),
    options,
    read: (info) => {
      const { template, status } = own<SandboxInfo>(info);
      return { template, state: status };
    },
    list: ({ metadata, state, limit }) =>
      own(OurSandbox.list({ metadata, ...(state && { status: state }), ...(limit !== undefined && { limit }), ...options })),
    ended: (result) => result,
    type: (commands, pid, text) => own<OurSandbox["commands"]>(commands).sendInput(pid, text),
    move: (files, from, to) => own(own<OurSandbox["files"]>(files).move(from, to)),
    watch: async (files, path, recursive, heard) => {
      const watch = await own<OurSandbox["files"]>(files).watch(path, { recursive });
      const listening = (async () => {
        for await (const change of watch) heard(`${CHANGES[change.type]} ${change.path.slice(path.length + 1)}`);
      })();
      return async () => {
        await watch.cancel();
        await listening;
      };
    },
    signed: async (sandbox, path) => {
      const signing = { user: "user", expiresInMs: 60_000 };
      const ours = own<OurSandbox>(sandbox);
      return { download: ours.downloadUrl(path, signing), upload: ours.uploadUrl(path, signing), headers: {} };
    },
    terminal: async (sandbox, options, heard) => {
      const handle = await own<OurSandbox>(sandbox).pty.create(options);
      const listening = (async () => {
        for await (const bytes of handle) heard(bytes);
      })();
      return own({
        pid: handle.pid,
        wait: async () => {
          await listening;
          return handle.wait();
        },
      });
    },
  };
}
