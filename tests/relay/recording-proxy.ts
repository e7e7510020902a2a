/** An HTTP proxy that keeps every byte that comes back through it, so that nothing that a browser receives escapes a search. */
import { createServer, request as requestHttp } from "node:http";
import { connect } from "node:net";
import { type Listening, listen } from "../support/listen.ts";

export interface RecordingProxy extends Listening {
  /** What came back so far: heads and bodies, and the frames of WebSockets. */
  received(): Buffer;
}

/** Names below `localhost` resolve in browsers, and so here. */
const hostOf = (name: string) => (/(^|\.)localhost$/.test(name) ? "127.0.0.1" : name);

export async function recordingProxy(): Promise<RecordingProxy> {
  const pieces: Buffer[] = [];
  const keep = (piece: Buffer | string) => void pieces.push(Buffer.from(piece));
  const server = createServer((incoming, outgoing) => {
    const { hostname, port, pathname, search, host } = new URL(incoming.url ?? "");
    // Uncompressed, so that what is searched is what was said.
    const headers = { ...incoming.headers, host, "accept-encoding": "identity" };
    const asked = requestHttp(
      { host: hostOf(hostname), port, path: pathname + search, method: incoming.method, headers },
      (answer) => {
        keep(`${answer.statusCode} ${answer.rawHeaders.join("\n")}\n`);
        answer.on("data", keep);
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      },
    );
    asked.on("error", () => outgoing.destroy());
    outgoing.on("close", () => asked.destroy());
    incoming.pipe(asked);
  });
  // Browsers ask for a tunnel for WebSockets.
  server.on("connect", (incoming, socket) => {
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const remote = connect(Number(port), hostOf(hostname), () => socket.write("HTTP/1.1 200 Connected\r\n\r\n"));
    remote.on("data", keep);
    for (const end of [socket, remote]) {
      end.on("error", () => undefined);
      end.on("close", () => {
        socket.destroy();
        remote.destroy();
      });
    }
    socket.pipe(remote).pipe(socket);
  });
  return { ...(await listen(server)), received: () => Buffer.concat(pieces) };
}
