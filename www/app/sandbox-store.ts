import { AuthenticationError, type ConnectionOptions, Sandbox, type SandboxInfo } from "agent-sandbox-web";

const INTERVAL_MS = 4000;

/** The platform's sandboxes, read again and again while the page is looked at. Listing never extends a life. */
export class SandboxStore {
  /** The sandboxes, newest first; `undefined` until they were read once. */
  list: readonly SandboxInfo[] | undefined;
  /** Why the last reading failed. */
  error: unknown;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private reading: Promise<void> | undefined;
  private stopped = false;
  private readonly looked = () => {
    if (document.visibilityState === "visible") void this.refresh();
  };

  /**
   * @param connection where to read
   * @param changed called after each reading
   * @param denied called when the platform does not know the token any more; reading has ended then
   */
  constructor(
    private readonly connection: ConnectionOptions,
    private readonly changed: () => void,
    private readonly denied: () => void,
  ) {
    document.addEventListener("visibilitychange", this.looked);
  }

  /** Reads now. Calls at the same time share one reading. */
  refresh(): Promise<void> {
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** Ends the reading. */
  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.looked);
  }

  private async read(): Promise<void> {
    clearTimeout(this.timer);
    try {
      const list = await Sandbox.list(this.connection).toArray();
      this.list = list.sort((a, b) => (b.startedAt?.getTime() ?? 0) - (a.startedAt?.getTime() ?? 0));
      this.error = undefined;
    } catch (error) {
      if (this.stopped) return;
      if (error instanceof AuthenticationError) {
        this.stop();
        this.denied();
        return;
      }
      this.error = error;
    }
    if (this.stopped) return;
    this.changed();
    if (document.visibilityState === "visible") this.timer = setTimeout(() => void this.refresh(), INTERVAL_MS);
  }
}
