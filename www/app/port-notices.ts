/** What the person is told of ports that open in a sandbox, and that it holds no more. */

import type { Sandbox } from "agent-sandbox-web";
import type { PortChange } from "../elements/metrics/port-watch.js";
import type { Notice } from "./notices.js";
import type { Opened } from "./open-sandboxes.js";

/** With more at once, as of a program that opens one for each of its workers, they are counted. */
const MOST_APART = 3;

/** Where it is told. */
export interface PortNoticesView {
  show(notice: Notice): void;
  close(key: string): void;
  /** Shows all open ports of a sandbox. */
  list(id: string): void;
  copy(text: string): Promise<void>;
}

/** The notices of open ports. Each stays until it is closed or its port is. */
export class PortNotices {
  /** Of which sandbox and ports each is, by its key. */
  private readonly shown = new Map<string, { readonly id: string; readonly ports: Set<number> }>();

  constructor(private readonly view: PortNoticesView) {}

  /** Tells what has changed in an open sandbox. */
  tell({ id, sandbox }: Opened, { opened, closed }: PortChange): void {
    for (const [key, { id: of, ports }] of this.shown) {
      if (of !== id) continue;
      for (const port of closed) ports.delete(port);
      if (ports.size === 0) this.close(key);
    }
    if (!sandbox) return;
    if (opened.length <= MOST_APART) for (const port of opened) this.tellOne(sandbox, port);
    else {
      this.show(id, opened, {
        text: `${opened.length} ports are open in sandbox ${id} now: ${opened.slice(0, 10).join(", ")}${opened.length > 10 ? "…" : ""}`,
        actions: [{ label: "Show them", run: () => this.view.list(id) }],
      });
    }
  }

  /** Takes back what was told of sandboxes that are not open any more, or run no more. */
  keep(open: readonly Opened[]): void {
    const alive = new Set(open.filter(({ ended, paused }) => !ended && !paused).map(({ id }) => id));
    for (const [key, { id }] of this.shown) if (!alive.has(id)) this.close(key);
  }

  private tellOne(sandbox: Sandbox, port: number): void {
    const url = sandbox.getUrl(port);
    // A port that is not public wants a token, which a tab cannot send.
    const isPublic = Object.keys(sandbox.network.getAccessHeaders()).length === 0;
    this.show(sandbox.sandboxId, [port], {
      text: `Port ${port} is open in sandbox ${sandbox.sandboxId} now.${isPublic ? "" : " It is not public: requests to it need a token."}`,
      actions: [
        ...(isPublic ? [{ label: "Open", run: () => void window.open(url, "_blank", "noopener,noreferrer") }] : []),
        { label: "Copy URL", run: () => void this.view.copy(url) },
      ],
    });
  }

  private show(id: string, ports: readonly number[], notice: Pick<Notice, "text" | "actions">): void {
    const key = `ports ${id} ${ports.join(" ")}`;
    this.shown.set(key, { id, ports: new Set(ports) });
    this.view.show({ key, stays: true, ...notice });
  }

  private close(key: string): void {
    this.shown.delete(key);
    this.view.close(key);
  }
}
