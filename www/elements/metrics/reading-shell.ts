import type { CommandHandle, Sandbox } from "agent-sandbox-web";

/** How long the shell waits for the next question, in seconds. Then it ends by itself, also when the page is not there any more. */
const IDLE_S = 20;
const PATIENCE_MS = 10_000;

/**
 * A shell in a sandbox that runs one script for each question. It is started once for many, and for all who ask: a process for each
 * reading would fill the sandbox's log, and show up in what is measured.
 */
export class ReadingShell {
  /** Whether it has ended; then another is needed. */
  ended = false;
  private text = "";
  private count = 0;
  /** Is over when the question before is answered, or given up. */
  private turn: Promise<unknown> = Promise.resolve();
  private waiting:
    | { readonly end: string; readonly answer: (text: string) => void; readonly fail: (reason: unknown) => void }
    | undefined;

  private constructor(private readonly handle: CommandHandle) {
    void this.follow();
  }

  /**
   * Starts it.
   * @param before is run once, by bash
   * @param script is run for each question, which it finds in `$question`; what it prints is the answer
   */
  static async start(sandbox: Sandbox, before: string, script: string): Promise<ReadingShell> {
    const loop = `${before}\nwhile read -r -t ${IDLE_S} question end; do\n${script}\nprintf '\\0%s\\0' "$end"\ndone`;
    const handle = await sandbox.commands.start(["/bin/bash", "-c", loop], { stdin: true, capture: false, timeoutMs: 0 });
    return new ReadingShell(handle);
  }

  /** Asks once, a question of one word, after those that were asked before. One that is given up ends the shell. */
  ask(question: string, signal: AbortSignal): Promise<string> {
    const answer = this.turn.then(() => this.askNow(question, signal));
    this.turn = answer.catch(() => undefined);
    return answer;
  }

  private async askNow(question: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (this.ended) throw new Error("The sandbox's shell has ended.");
    this.count += 1;
    const word = `${this.count} ${crypto.getRandomValues(new Uint32Array(2)).join(" ")}`;
    const answer = new Promise<string>((answer, fail) => {
      this.waiting = { end: `\0${word}\0`, answer, fail };
    });
    const giveUp = () => this.fail(signal.reason);
    const timer = setTimeout(() => this.fail(new Error("The sandbox's shell did not answer in time.")), PATIENCE_MS);
    signal.addEventListener("abort", giveUp);
    try {
      // The answer may come before the question is known to have arrived.
      return await Promise.race([answer, this.handle.sendInput(`${question} ${word}\n`, { signal }).then(() => answer)]);
    } catch (error) {
      this.stop();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      this.waiting = undefined;
      this.text = "";
    }
  }

  private stop(): void {
    if (this.ended) return;
    this.ended = true;
    this.handle.kill().catch(() => {
      // It is gone already, or cannot be reached: then it ends for want of questions.
    });
  }

  private fail(reason: unknown): void {
    this.waiting?.fail(reason);
  }

  private async follow(): Promise<void> {
    try {
      for await (const chunk of this.handle) {
        const { waiting } = this;
        if (chunk.type !== "stdout" || !waiting) continue;
        this.text += chunk.data;
        if (this.text.endsWith(waiting.end)) waiting.answer(this.text.slice(0, -waiting.end.length));
      }
      this.fail(new Error("The sandbox's shell has ended."));
    } catch (error) {
      this.fail(error);
    }
    this.ended = true;
  }
}
