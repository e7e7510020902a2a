/** Servers of tests listen on a free port of the loopback interface. */
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listening {
  readonly port: number;
  /** `http://localhost:PORT`, for browsers. */
  readonly url: string;
  /** `http://127.0.0.1:PORT`, for runtimes. */
  readonly address: string;
  /** Stops listening and drops every connection. */
  close(): Promise<void>;
}

/** Starts to listen; resolves when connections are accepted. */
export async function listen(server: Server): Promise<Listening> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://localhost:${port}`,
    address: `http://127.0.0.1:${port}`,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
