// Node: node node.js FOLDER, with the page's files in that folder.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createApp } from "./app.js";
import { environment, filesOf } from "./files.js";

const app = createApp(environment(process.env), filesOf(process.argv[2], readFile));
const server = createServer(async (request, response) => {
  if (request.url.startsWith("/api/sandbox/")) return app.relay.listener(request, response);
  const { method, headers } = request;
  const body = method === "POST" ? request : undefined;
  const answer = await app.fetch(new Request(`http://localhost${request.url}`, { method, headers, body, duplex: "half" }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
});
server.on("upgrade", app.relay.upgrade);
server.listen(Number(process.env.PORT ?? 8787), "127.0.0.1", () => console.log(`http://localhost:${server.address().port}`));
