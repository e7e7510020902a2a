/** What the files of tests begin with: a console of their own, closed after them. */
import { Sandbox } from "agent-sandbox-web";
import { afterAll, beforeAll } from "vitest";
import { FIRST_USE_MS, prepareRuntime, runtimeDir } from "../support/runtime.ts";
import { type Console, openConsole } from "./console.ts";
import type { ConsolePage } from "./console-page.ts";
import { NotebookPage } from "./notebook-page.ts";

/** The console of a file of tests; there once its tests run. */
export interface UsedConsole {
  readonly shared: Console;
  /** The tab that opened it. */
  readonly page: ConsolePage;
  /** The notebook that is shown in it. */
  readonly notebook: NotebookPage;
  /** The platform as other clients reach it. */
  readonly connection: { readonly apiUrl: string; readonly sandboxUrl: string; readonly apiKey: string };
  /** How long a sandbox still lives, in ms. */
  left(id: string): Promise<number>;
}

/**
 * Opens a console before the tests of a file.
 * @param begin is done in it before the first test
 */
export function useConsole(begin?: (page: ConsolePage) => Promise<void>, args?: string[]): UsedConsole {
  let shared: Console;
  beforeAll(async () => {
    shared = await openConsole(args);
    await begin?.(shared.first);
  });
  afterAll(() => shared?.close());
  return {
    get shared() {
      return shared;
    },
    get page() {
      return shared.first;
    },
    get notebook() {
      return new NotebookPage(shared.first);
    },
    get connection() {
      const { apiUrl, sandboxUrl, apiKey } = shared.platform.info;
      return { apiUrl, sandboxUrl, apiKey };
    },
    async left(id) {
      return ((await Sandbox.getInfo(id, this.connection)).endAt?.getTime() ?? 0) - Date.now();
    },
  };
}

/** Opens a console whose sandboxes can have code cells. */
export function useInterpreter(begin: (page: ConsolePage) => Promise<void>): UsedConsole {
  beforeAll(prepareRuntime, FIRST_USE_MS);
  return useConsole(begin, ["--runtime-dir", runtimeDir]);
}

/** Opens a console with the notebook of a new sandbox before the tests of a file. */
export function useNotebook(): UsedConsole {
  return useInterpreter(async (page) => {
    await new NotebookPage(page).begin();
  });
}
