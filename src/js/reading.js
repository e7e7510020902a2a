// What is read of a file: the body of an answer as a stream, a part of it, or its text.
import { callForCollection, isPage } from "./file-data.js";
import { Guard } from "./guard.js";

/** Bytes of a file that is read in a page, after which its collector is called. */
const COLLECTION = 32 << 20;

/**
 * A response's body for the caller, without its first `skip` bytes and of no more than `most`: its failures are typed, an abort comes
 * through with its reason, and its end lets go of the request. `failure` says what a read that failed means.
 */
export function guardedBody(exchange, signal, failure, skip, most) {
  const { body } = exchange.response;
  if (!body) {
    exchange.finish();
    return new Response("").body;
  }
  const reader = body.getReader();
  const guard = new Guard();
  if (signal) guard.follow(signal);
  guard.onFire(() => reader.cancel().catch(() => {}));
  const leave = () => {
    guard.release();
    exchange.close();
  };
  let [left, room] = [skip, most];
  // What a runtime unpacks has another length than what was sent; of a page's answers it is not to be seen whether they were packed.
  let missing = isPage || exchange.header("content-encoding") ? 0 : Number(exchange.header("content-length"));
  let due = 0;
  const broken = async (controller, cause) => {
    leave();
    controller.error(guard.isFired ? guard.error : await failure.fail(cause));
  };
  // The next chunk is asked for while the caller deals with this one. It waits in a promise and not in the stream's queue, which a failure
  // would empty. No `async` here: its own promises are a part of what a chunk costs.
  let ahead;
  const pull = (controller) => {
    const next = ahead ?? reader.read();
    ahead = undefined;
    return next.then(
      (step) => take(controller, step),
      (cause) => broken(controller, cause),
    );
  };
  const take = (controller, { done, value }) => {
    if (guard.isFired) return broken(controller);
    if (done) {
      if (missing > 0) return broken(controller, new Error(`The answer ended ${missing} bytes before its end.`));
      exchange.finish();
      guard.release();
      return controller.close();
    }
    missing -= value.length;
    due += value.length;
    if (isPage && due > COLLECTION) {
      due = 0;
      callForCollection();
    }
    const chunk = left || value.length > room ? value.subarray(left, left + room) : value;
    left = Math.max(0, left - value.length);
    room -= chunk.length;
    if (chunk.length) {
      ahead = reader.read();
      // If it fails, whoever pulls next is told.
      ahead.catch(() => {});
      return controller.enqueue(chunk);
    }
    if (room > 0) return pull(controller);
    controller.close();
    return reader.cancel().then(leave);
  };
  return new ReadableStream(
    {
      pull,
      async cancel(reason) {
        await reader.cancel(reason);
        leave();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A part of a body, in bytes, as `slice` has it. */
export function slice(body, start, end) {
  return body.slice(start, end);
}

/** Text in a named encoding. A byte order mark is part of a file's text: what was written is read. */
export function textOf(bytes, encoding) {
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
}
