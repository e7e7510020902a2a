/** What is done for a transfer. `tell` says how far it is; after `signal` is aborted it ends without having done anything more. */
export type Work = (signal: AbortSignal, tell: (progress: Partial<Progress>) => void) => Promise<void>;

/** How far a transfer is. */
export interface Progress {
  /** Bytes so far. */
  readonly loaded: number;
  /** Bytes in all, where that is known. */
  readonly total: number | undefined;
  /** More than bytes can say, such as `3 of 12 files`. */
  readonly detail: string;
}

/** An upload or a download that waits, is under way, or has failed. */
export interface Transfer {
  /** What it is, such as `Uploading notes.txt`. */
  readonly label: string;
  readonly state: "waiting" | "running" | "failed";
  readonly progress: Progress;
  readonly error?: unknown;
}

interface Job extends Transfer {
  state: Transfer["state"];
  progress: Progress;
  error?: unknown;
  readonly work: Work;
  readonly start: Progress;
  stopper: AbortController;
}

// Each takes one of the six connections that a browser opens to a host, and listing must go on beside them.
const AT_ONCE = 2;

/** Runs transfers, a few at a time. `changed` is called whenever one begins, gets on, ends or fails. */
export class Transfers {
  private readonly jobs = new Set<Job>();

  constructor(private readonly changed: () => void) {}

  /** Those that are not done, in the order in which they were added. */
  get list(): readonly Transfer[] {
    return [...this.jobs];
  }

  /** Adds a transfer. `total` is its size in bytes, where that is known. */
  add(label: string, total: number | undefined, work: Work): void {
    const start: Progress = { loaded: 0, total, detail: "" };
    this.jobs.add({ label, state: "waiting", progress: start, start, work, stopper: new AbortController() });
    this.next();
  }

  /** Ends a transfer, or forgets one that has failed. */
  cancel(transfer: Transfer): void {
    const job = transfer as Job;
    this.jobs.delete(job);
    job.stopper.abort();
    this.next();
  }

  /** Tries a transfer again that has failed. */
  retry(transfer: Transfer): void {
    const job = transfer as Job;
    Object.assign(job, { state: "waiting", error: undefined, progress: job.start, stopper: new AbortController() });
    this.next();
  }

  /** Ends all of them. */
  stop(): void {
    for (const job of [...this.jobs]) this.cancel(job);
  }

  private next(): void {
    const jobs = [...this.jobs];
    let free = AT_ONCE - jobs.filter(({ state }) => state === "running").length;
    for (const job of jobs) {
      if (free > 0 && job.state === "waiting") {
        free -= 1;
        void this.run(job);
      }
    }
    this.changed();
  }

  private async run(job: Job): Promise<void> {
    const { stopper } = job;
    job.state = "running";
    try {
      await job.work(stopper.signal, (progress) => {
        job.progress = { ...job.progress, ...progress };
        this.changed();
      });
      this.jobs.delete(job);
    } catch (error) {
      // What was cancelled is out of the list already.
      if (!stopper.signal.aborted) Object.assign(job, { state: "failed", error });
    }
    this.next();
  }
}
