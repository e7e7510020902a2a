// A file read as a stream: its pieces count as a command's output would.
import { attach } from "./attach.mjs";

/** @param {import("./settings.d.mts").Settings} settings */
export async function open(settings) {
  const sandbox = await attach(settings);
  return async (path, onPiece) => {
    for await (const piece of await sandbox.files.read(path, { format: "stream", requestTimeoutMs: 0 })) onPiece(piece);
  };
}
