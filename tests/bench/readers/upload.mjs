// A file written from a stream of unknown length: its pieces count when they are asked for.
import { attach } from "./attach.mjs";

const BYTES = 128 << 20;
const PIECE = 64 << 10;

/** @param {import("./settings.d.mts").Settings} settings */
export async function open(settings) {
  const sandbox = await attach(settings);
  return async (path, onPiece) => {
    let sent = 0;
    const source = new ReadableStream({
      pull(controller) {
        if (sent === BYTES) return controller.close();
        const piece = new Uint8Array(PIECE);
        sent += PIECE;
        onPiece(piece);
        controller.enqueue(piece);
      },
    });
    await sandbox.files.write(path, source, { requestTimeoutMs: 0 });
  };
}
