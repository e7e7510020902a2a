// Bun: bun bun.js FOLDER
import { createApp } from "./app.js";
import { environment, filesOf } from "./files.js";

const app = createApp(
  environment(process.env),
  filesOf(process.argv[2], async (path) => Bun.file(path).bytes()),
);
const { port } = Bun.serve({
  port: Number(process.env.PORT ?? 8787),
  hostname: "127.0.0.1",
  // A stream may be quiet for long.
  idleTimeout: 0,
  fetch: (request, server) => app.fetch(request, server),
  websocket: app.relay.websocket,
});
console.log(`http://localhost:${port}`);
