import type { Sandbox } from "agent-sandbox-web";
import { meansItself } from "./itself.js";
import { plainName } from "./names.js";
import { confirm } from "./sandbox-dialog.js";

/**
 * Opens an address that a sandbox gave, after asking. Anything but http and https is refused: such an address could act in this page. One
 * of the sandbox itself, such as `http://0.0.0.0:8000/`, leads to its port, not to the person's own machine.
 *
 * @param from where it was followed: the sandbox of the elements around it is the one that is meant
 */
export async function openLink(address: string, from: Node): Promise<void> {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return;
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return;
  const sandbox = meansItself(url) ? sandboxAround(from) : undefined;
  const port = Number(url.port) || (url.protocol === "http:" ? 80 : 443);
  const to = sandbox ? portAddress(sandbox, port, url) : url;
  const agreed = await confirm({
    title: sandbox ? `Open port ${port} of the sandbox in a new tab?` : `Open ${url.host} in a new tab?`,
    text: sandbox
      ? `The sandbox printed ${plainName(address)}, which means itself. From here its port ${port} is at this address:`
      : "The address comes from the sandbox. Open it only if you expect it.",
    detail: plainName(to.href),
    action: "Open",
  });
  if (agreed) window.open(to.href, "_blank", "noopener,noreferrer");
}

/** The address of a place on a port, as it is reached from outside the sandbox. */
function portAddress(sandbox: Sandbox, port: number, { pathname, search, hash }: URL): URL {
  const to = new URL(sandbox.getUrl(port));
  to.pathname = to.pathname.replace(/\/$/, "") + pathname;
  if (search !== "") to.search = search;
  to.hash = hash;
  return to;
}

/** The sandbox that the elements around a node show, through shadow trees too. */
function sandboxAround(from: Node): Sandbox | undefined {
  let node: Node | null = from;
  while (node) {
    // Its class may be that of another copy of the package.
    const { sandbox } = node as { sandbox?: Partial<Sandbox> | undefined };
    if (typeof sandbox?.getUrl === "function") return sandbox as Sandbox;
    node = node instanceof ShadowRoot ? node.host : node.parentNode;
  }
  return undefined;
}
