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
  return new ReadableStream(
    {
      async pull(controller) {
        for (;;) {
          let step;
          try {
            step = await reader.read();
            if (step.done && missing > 0) throw new Error(`The answer ended ${missing} bytes before its end.`);
          } catch (cause) {
            leave();
            controller.error(guard.isFired ? guard.error : await failure.fail(cause));
            return;
          }
          if (guard.isFired) {
            leave();
            controller.error(guard.error);
            return;
          }
          if (step.done) {
            exchange.finish();
            guard.release();
            controller.close();
            return;
          }
          missing -= step.value.length;
          due += step.value.length;
          if (isPage && due > COLLECTION) {
            due = 0;
            callForCollection();
          }
          const chunk = left || step.value.length > room ? step.value.subarray(left, left + room) : step.value;
          left = Math.max(0, left - step.value.length);
          room -= chunk.length;
          if (chunk.length) {
            controller.enqueue(chunk);
            return;
          }
          if (room === 0) {
            controller.close();
            await reader.cancel();
            leave();
            return;
          }
        }
      },
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
