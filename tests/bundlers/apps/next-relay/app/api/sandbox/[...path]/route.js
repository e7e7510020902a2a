import { createRelay } from "agent-sandbox-web/relay";
import given from "../../../../given.js";

export const dynamic = "force-dynamic";

const relay = createRelay({
  ...given.platform,
  // Everything through this route, as where pages reach nothing else.
  direct: false,
  authorize: (request) => {
    const owner = request.headers.get("x-user");
    return owner ? { owner } : null;
  },
  policy: { templates: ["base", "code-interpreter"] },
});
const answer = (request) => relay.fetch(request);

export { answer as DELETE, answer as GET, answer as PATCH, answer as POST, answer as PUT };
