// Which pages may ask: no page of a foreign origin, neither by fetch nor by WebSocket, unless it is named.
import { SESSION_HEADER } from "./headers.js";
import { REASON_HEADER, Refusal } from "./refusal.js";

/**
 * The header that calls about sandboxes carry. A page of another origin cannot send it without a preflight, which the relay answers for
 * origins that it knows, and no form or link can at all: so a request that has it was meant (CSRF).
 */
export const RELAY_HEADER = "x-sandbox-relay";

export class Origins {
  readonly #named: readonly string[] | undefined;

  constructor(named: readonly string[] | undefined) {
    this.#named = named;
  }

  /** The origin of another site's page that is let in, for the headers of CORS; undefined for the relay's own pages and for other callers. */
  check(request: Request, url: URL): string | undefined {
    const origin = request.headers.get("origin");
    if (origin === null) {
      // Browsers send no Origin with a GET of the same origin. What else they say they came from is the word of the browser.
      const site = request.headers.get("sec-fetch-site");
      if (site !== null && site !== "same-origin") throw foreign();
      return undefined;
    }
    if (this.#named ? !this.#named.includes(origin) : origin !== url.origin) throw foreign();
    return origin === url.origin ? undefined : origin;
  }

  /** The answer to a preflight. */
  preflight(request: Request, url: URL): Response {
    const origin = this.check(request, url);
    const asked = request.headers.get("access-control-request-headers");
    return new Response(null, {
      status: 204,
      headers: {
        ...(origin === undefined ? {} : this.headers(origin)),
        "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
        ...(asked === null ? {} : { "access-control-allow-headers": asked }),
        "access-control-max-age": "600",
      },
    });
  }

  /** What an answer to a page of another origin carries. */
  headers(origin: string): Record<string, string> {
    return {
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": `x-next-token, retry-after, content-range, ${REASON_HEADER}`,
      vary: `Origin, ${SESSION_HEADER}`,
    };
  }
}

function foreign(): Refusal {
  return new Refusal(
    403,
    "foreign_origin",
    "The relay does not serve pages of this origin: name the origin in the relay's option origins, if it is yours.",
  );
}
