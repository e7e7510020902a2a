// Cloudflare Workers: the page's files come from the binding ASSETS, where the platform is from variables, the key from a secret.
import { createApp } from "./app.js";

let app;

export default {
  fetch(request, env) {
    const { AGENT_SANDBOX_API_KEY: apiKey, API_URL: apiUrl, SANDBOX_URL: sandboxUrl, PAGE_SANDBOX_URL: pageSandboxUrl } = env;
    // Once, so that limits and what is known of owners last as long as this instance.
    app ??= createApp({ apiKey, apiUrl, sandboxUrl, pageSandboxUrl }, (path) => env.ASSETS.fetch(new URL(path, request.url)));
    return app.fetch(request);
  },
};
