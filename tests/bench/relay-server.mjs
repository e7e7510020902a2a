// A relay in a process of its own, in front of the platform that its argument describes. Prints where it is.
import { createServer } from "node:http";
import { createRelay } from "agent-sandbox-web/relay";

const { apiKey, apiUrl, sandboxUrl } = JSON.parse(process.argv[2]);
const unlimited = Number.MAX_SAFE_INTEGER;
const relay = createRelay({
  ...{ apiKey, apiUrl, sandboxUrl },
  direct: false,
  authorize: () => ({ owner: "bench" }),
  policy: { templates: ["base"], callsPerMinute: unlimited, requestsPerMinute: unlimited },
});
const server = createServer(relay.listener);
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/api/sandbox`));
