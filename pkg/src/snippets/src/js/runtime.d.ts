// What the entry for Node uses of the client's look at its runtime; the build puts the file itself beside the glue.

/** Says how to make a `fetch` that goes through a proxy. */
export function setProxyFetch(make: (proxy: string) => (url: string, init: object) => Promise<Response>): void;
