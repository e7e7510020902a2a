import { plainName } from "./names.js";
import { confirm } from "./sandbox-dialog.js";

/** Opens an address that a sandbox gave, after asking. Anything but http and https is refused: such an address could act in this page. */
export async function openLink(address: string): Promise<void> {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return;
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return;
  const agreed = await confirm({
    title: `Open ${url.host} in a new tab?`,
    text: "The address comes from the sandbox. Open it only if you expect it.",
    detail: plainName(url.href),
    action: "Open",
  });
  if (agreed) window.open(url.href, "_blank", "noopener,noreferrer");
}
