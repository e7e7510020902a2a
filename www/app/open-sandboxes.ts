/** The sandboxes that this page has opened, and what is done with a sandbox as a whole. */

import { type ConnectionOptions, Sandbox, SandboxError, type SandboxInfo } from "agent-sandbox-web";
import { isGone } from "../elements/describe-error.js";
import { keepSource } from "./forks.js";
import { dropRemainder, keepRemainder, LEAST_LIFE_MS, lifeAfterResume } from "./remainders.js";
import { type Known, timeLeft } from "./status.js";

// `connect` makes a sandbox live at least this long and never shortens its life. Looking at a sandbox must not extend it, so the page
// asks for next to nothing.
const LOOKING_MS = 1000;
/** The longest life from now that platforms take, in ms. */
const LONGEST_MS = 24 * 3_600_000;

/** A sandbox that this page has opened. */
export interface Opened extends Known {
  readonly id: string;
  sandbox?: Sandbox;
  /** Why it could not be opened. */
  error?: unknown;
  paused?: boolean;
  ended?: boolean;
  /** Whether it has ended because the person wanted it to. */
  killed?: boolean;
  doing?: NonNullable<Known["doing"]>;
}

/** What a later page opens again. */
interface Remembered {
  /** The platform that they are of. */
  readonly platform: string;
  readonly ids: readonly string[];
  readonly current: string | undefined;
}

/** Those that are open, and the one that is shown. */
export class OpenSandboxes {
  /** In the order they were opened. */
  list: readonly Opened[] = [];
  current: Opened | undefined;
  private connection: ConnectionOptions = {};

  /**
   * @param changed called whenever something has changed
   * @param key where the ids are remembered in the session's storage
   * @param forget called with the id of a sandbox that has ended and is not shown any more
   * @param keeps whether there is work in a sandbox that an earlier page has kept
   */
  constructor(
    private readonly changed: () => void,
    private readonly key: string,
    private readonly forget: (id: string) => void,
    private readonly keeps: (id: string) => boolean,
  ) {}

  /** Uses a platform, or another key of it. What is open on another platform is closed. */
  connectBy(connection: ConnectionOptions): void {
    const { platform } = this;
    this.connection = connection;
    if (this.list.length > 0 && platform !== this.platform) this.leaveAll();
  }

  /** Opens again what was open before the page was loaded anew. */
  restore(): void {
    if (this.list.length > 0) return;
    const { ids, current } = this.remembered();
    this.list = ids.map((id) => ({ id }));
    this.current = current === undefined ? undefined : this.find(current);
    this.changed();
    for (const opened of this.list) void this.connect(opened).then(() => this.dropGone(opened));
  }

  /** Shows a sandbox, opening it first when it is not. */
  async open(id: string): Promise<void> {
    const known = this.find(id);
    const opened = known ?? { id };
    this.show(opened);
    if (!known) await this.connect(opened);
  }

  /** Shows a sandbox that was just made. */
  add(sandbox: Sandbox): void {
    this.show({ id: sandbox.sandboxId, sandbox });
  }

  /** The open sandbox of that id. */
  find(id: string): Opened | undefined {
    return this.list.find((opened) => opened.id === id);
  }

  /** Connects to a sandbox unless it is paused: resuming it is for the person to decide. */
  async connect(opened: Opened): Promise<void> {
    this.change(opened, { error: undefined, doing: "starting" });
    try {
      const { status } = await Sandbox.getInfo(opened.id, this.connection);
      if (status === "paused") this.change(opened, { paused: true });
      else {
        const sandbox = await Sandbox.connect(opened.id, { ...this.connection, timeoutMs: LOOKING_MS });
        this.change(opened, { sandbox, paused: false });
      }
    } catch (error) {
      if (isGone(error)) await this.end(opened);
      else this.change(opened, { error });
    } finally {
      this.settle(opened);
    }
  }

  /** Marks what is gone. Where an earlier page has kept work in it, a handle that reaches nothing lets that be shown. */
  private async end(opened: Opened): Promise<void> {
    const kept = !opened.sandbox && this.keeps(opened.id);
    const sandbox = kept ? await Sandbox.attach({ sandboxId: opened.id }, this.connection) : undefined;
    this.change(opened, { ended: true, paused: false, ...(sandbox ? { sandbox } : {}) });
  }

  /** Goes on with a paused sandbox. */
  async resume(opened: Opened): Promise<void> {
    this.change(opened, { error: undefined, doing: "resuming" });
    try {
      const timeoutMs = Math.min(lifeAfterResume(opened.id, await Sandbox.getInfo(opened.id, this.connection)), LONGEST_MS);
      const sandbox = opened.sandbox
        ? await opened.sandbox.resume({ timeoutMs })
        : await Sandbox.connect(opened.id, { ...this.connection, timeoutMs });
      dropRemainder(opened.id);
      this.change(opened, { sandbox, paused: false });
    } catch (error) {
      if (!isGone(error)) throw error;
      await this.end(opened);
    } finally {
      this.settle(opened);
    }
  }

  /** Pauses a sandbox. */
  async pause(opened: Opened): Promise<void> {
    this.change(opened, { doing: "pausing" });
    try {
      keepRemainder(await Sandbox.getInfo(opened.id, this.connection));
      await Sandbox.pause(opened.id, this.connection);
      this.change(opened, { paused: true });
    } finally {
      this.settle(opened);
    }
  }

  /** Makes copies that live as long as their source still does, and shows the first. Those that could not be made are thrown as one error. */
  async fork(id: string, count: number): Promise<void> {
    const { endAt } = await Sandbox.getInfo(id, this.connection);
    const timeoutMs = Math.max(timeLeft(endAt) ?? 0, LEAST_LIFE_MS);
    const made = await Sandbox.fork(id, { ...this.connection, count, timeoutMs });
    const copies = made.filter((one): one is Sandbox => !(one instanceof SandboxError));
    for (const { sandboxId } of copies) keepSource(sandboxId, id);
    const [first, ...others] = copies;
    for (const sandbox of others) this.list = [...this.list, { id: sandbox.sandboxId, sandbox }];
    if (first) this.add(first);
    const failed = made.find((one) => one instanceof SandboxError);
    if (failed) throw failed;
  }

  /** Lets a sandbox live longer. */
  async extend(id: string, ms: number): Promise<void> {
    const { endAt } = await Sandbox.getInfo(id, this.connection);
    const left = Math.max(0, (endAt?.getTime() ?? 0) - Date.now());
    await Sandbox.setTimeout(id, Math.min(left + ms, LONGEST_MS), this.connection);
  }

  /** Ends a sandbox. */
  async kill(id: string): Promise<void> {
    await Sandbox.kill(id, this.connection);
    dropRemainder(id);
    const opened = this.find(id);
    if (opened) this.change(opened, { ended: true, killed: true, paused: false });
  }

  /** Closes what is shown of a sandbox, which goes on. */
  leave(opened: Opened): void {
    this.list = this.list.filter((other) => other !== opened);
    void opened.sandbox?.close();
    if (this.current === opened) this.current = undefined;
    this.remember();
    this.changed();
    if (opened.ended) this.forget(opened.id);
  }

  /** One that ended while the page was away, and that nobody looks at, says nothing. */
  private dropGone(opened: Opened): void {
    if (opened.ended && opened !== this.current) this.leave(opened);
  }

  private leaveAll(): void {
    for (const opened of this.list) void opened.sandbox?.close();
    this.list = [];
    this.current = undefined;
    this.changed();
  }

  /** Takes in what the platform says now: what is not in its list has ended, and others may have paused or resumed a sandbox. */
  listed(infos: readonly SandboxInfo[]): void {
    for (const opened of this.list) {
      const info = infos.find(({ sandboxId }) => sandboxId === opened.id);
      if (opened.doing) continue;
      if (info) opened.paused = info.status === "paused";
      else if (opened.sandbox || opened.paused) Object.assign(opened, { ended: true, paused: false });
      // Somebody has resumed it while it stood here as paused.
      if (info?.status === "running" && !opened.sandbox && opened.error === undefined) void this.connect(opened);
    }
    this.changed();
  }

  private show(opened: Opened): void {
    if (!this.list.includes(opened)) this.list = [...this.list, opened];
    this.current = opened;
    this.remember();
    this.changed();
  }

  private change(opened: Opened, change: Partial<Opened>): void {
    Object.assign(opened, change);
    this.changed();
  }

  private settle(opened: Opened): void {
    delete opened.doing;
    this.changed();
  }

  private remember(): void {
    const kept: Remembered = { platform: this.platform, ids: this.list.map(({ id }) => id), current: this.current?.id };
    sessionStorage.setItem(this.key, JSON.stringify(kept));
  }

  private remembered(): Pick<Remembered, "ids" | "current"> {
    try {
      const { platform, ids, current } = JSON.parse(sessionStorage.getItem(this.key) ?? "{}") as Partial<Remembered>;
      if (platform === this.platform && Array.isArray(ids)) return { ids: [...new Set(ids)], current };
    } catch {
      // What another version of the page has kept is not worth more than this.
    }
    return { ids: [], current: undefined };
  }

  private get platform(): string {
    return `${this.connection.apiUrl ?? ""} ${this.connection.provider ?? ""}`;
  }
}
