// The application, the same in every runtime: a sign-in, a relay for whoever is signed in, and a page.
import { createRelay } from "agent-sandbox-web/relay";

/**
 * @param {{ apiKey: string, apiUrl?: string, sandboxUrl?: string, pageSandboxUrl?: string }} env where the platform is; only `apiKey` for E2B
 * @param {(path: string) => Promise<Response>} assets gives a file of the page
 */
export function createApp(env, assets) {
  const secret = new TextEncoder().encode(`sign-in ${env.apiKey}`);
  const key = () => crypto.subtle.importKey("raw", secret, HMAC, false, ["sign", "verify"]);

  const relay = createRelay({
    apiKey: env.apiKey,
    apiUrl: env.apiUrl,
    sandboxUrl: env.sandboxUrl,
    pageSandboxUrl: env.pageSandboxUrl,
    authorize: async (request) => {
      const user = await signedIn(request, key);
      return user && { owner: user };
    },
    policy: { templates: ["base", "code-interpreter-v1"], maxSandboxes: 3, maxTimeoutMs: 600_000 },
    onError: (error) => console.error(error),
  });

  return {
    relay,
    /** @param {Request} request @param {unknown} [server] Bun's */
    async fetch(request, server) {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/api/sandbox/")) return relay.fetch(request, server);
      if (pathname === "/sign-in" && request.method === "POST") return signIn(request, key);
      return assets(pathname === "/" ? "/index.html" : pathname);
    },
  };
}

const HMAC = { name: "HMAC", hash: "SHA-256" };

// A real application has a sign-in of its own. This one believes a name, and signs it, so that nobody changes it afterwards.

async function signIn(request, key) {
  const { name } = await request.json();
  if (typeof name !== "string" || !/^\w{1,32}$/.test(name)) return new Response("a name, please", { status: 400 });
  const signature = new Uint8Array(await crypto.subtle.sign(HMAC, await key(), new TextEncoder().encode(name)));
  const cookie = `user=${name}.${btoa(String.fromCharCode(...signature)).replaceAll("=", "")}`;
  return new Response(null, { status: 204, headers: { "set-cookie": `${cookie}; HttpOnly; SameSite=Strict; Path=/` } });
}

async function signedIn(request, key) {
  const [, name, signature] = /(?:^|; )user=(\w+)\.([\w+/]+)/.exec(request.headers.get("cookie") ?? "") ?? [];
  if (!name) return undefined;
  const bytes = Uint8Array.from(atob(signature), (letter) => letter.charCodeAt(0));
  return (await crypto.subtle.verify(HMAC, await key(), bytes, new TextEncoder().encode(name))) ? name : undefined;
}
