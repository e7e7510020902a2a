/** Drawing by the graphics processor. Loaded where there is one. */

import { WebglAddon } from "@xterm/addon-webgl";
import type { Terminal } from "@xterm/xterm";

/** Has a terminal drawn by WebGL until what is returned is called, or the browser takes the context away: then the page draws it. */
export function accelerate(terminal: Terminal): () => void {
  const addon = new WebglAddon();
  addon.onContextLoss(() => addon.dispose());
  terminal.loadAddon(addon);
  return () => addon.dispose();
}
