import type { CodeContext, CodeError, Result, Sandbox } from "agent-sandbox-web";
import type { Channel } from "../ansi.js";

/** What a cell hears while it runs. What `printed` gives is waited for, so that output cannot outrun the drawing. */
export interface CellHooks {
  printed(channel: Channel, text: string): Promise<void> | undefined;
  shown(result: Result): void;
  raised(error: CodeError): void;
}

/** A notebook's contexts in a sandbox, one for each language, made when it is first used. */
export class Kernel {
  private readonly contexts = new Map<string, Promise<string>>();

  /**
   * @param sandbox where the code runs
   * @param known ids of contexts that an earlier page has made, by language; used when they are still there
   */
  constructor(
    private readonly sandbox: Sandbox,
    private known: Readonly<Record<string, string>> = {},
  ) {}

  /** The ids of the contexts that are in use, by language, for a later page. */
  get ids(): Readonly<Record<string, string>> {
    return this.known;
  }

  /**
   * Runs code to its end and gives its number in the context.
   * @param signal interrupts it; the context lives on
   */
  async run(language: string, code: string, hooks: CellHooks, signal: AbortSignal): Promise<number | undefined> {
    const context = await this.context(language);
    signal.throwIfAborted();
    const { executionCount } = await this.sandbox.runCode(code, {
      context,
      signal,
      timeoutMs: 0,
      capture: false,
      onStdout: (text) => hooks.printed("stdout", text),
      onStderr: (text) => hooks.printed("stderr", text),
      onResult: (result) => hooks.shown(result),
      onError: (error) => hooks.raised(error),
    });
    return executionCount;
  }

  /** Gives a language's context a new kernel, without its variables. What runs there ends. */
  async restart(language: string): Promise<void> {
    const context = await this.context(language);
    try {
      await this.sandbox.code.restartContext(context);
    } catch (error) {
      // Whatever is wrong with it, the next run gets another.
      this.forget(language);
      throw error;
    }
  }

  private context(language: string): Promise<string> {
    let context = this.contexts.get(language);
    if (!context) {
      context = this.find(language);
      this.contexts.set(language, context);
      context.catch(() => this.contexts.delete(language));
    }
    return context;
  }

  private async find(language: string): Promise<string> {
    const { code } = this.sandbox;
    const known = this.known[language];
    if (known !== undefined) {
      const there = await code.listContexts();
      if (there.some(({ id }: CodeContext) => id === known)) return known;
    }
    const { id } = await code.createContext({ language });
    this.known = { ...this.known, [language]: id };
    return id;
  }

  /** Looks anew whether the contexts are still there before one is used. */
  recheck(): void {
    this.contexts.clear();
  }

  private forget(language: string): void {
    this.contexts.delete(language);
    const { [language]: _, ...others } = this.known;
    this.known = others;
  }
}
