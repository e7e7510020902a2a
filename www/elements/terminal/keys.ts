/** What keys do in a terminal that are not simply typed. */

/**
 * `type`: the program gets it; `browser`: the browser does what it always does, such as pasting; the others are the terminal's own.
 */
export type KeyAction = "type" | "browser" | "copy" | "search" | "leave";

/** What a key does. Ctrl-C copies when something is selected, and interrupts when nothing is. */
export function keyAction(event: KeyboardEvent, selected: boolean, platform = navigator.platform): KeyAction {
  const { code, ctrlKey, shiftKey, altKey, metaKey } = event;
  if (altKey) return "type";
  const mac = /^Mac|^iP/.test(platform);
  if (mac ? metaKey && !ctrlKey && code === "KeyF" : ctrlKey && shiftKey && code === "KeyF") return "search";
  if (code === "F6" && !ctrlKey && !metaKey) return "leave";
  if (!ctrlKey || metaKey) return "type";
  if (code === "KeyC" && selected && !mac) return "copy";
  // With nothing selected it would open the developer's tools.
  if (code === "KeyC" && shiftKey) return "copy";
  if (code === "KeyV" && (shiftKey || /^Win/.test(platform))) return "browser";
  return "type";
}
