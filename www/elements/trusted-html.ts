/** Parsing HTML under `require-trusted-types-for 'script'`: the one place that may, beside Lit. */

interface Policy {
  createHTML(html: string): string;
}

interface PolicyFactory {
  createPolicy(name: string, rules: Policy): Policy;
}

let policy: Policy | undefined;

/** Where there are no Trusted Types, text is as good as it is. */
function trusted(html: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: PolicyFactory };
  policy ??= trustedTypes?.createPolicy("sandbox-inert", { createHTML: (text) => text }) ?? { createHTML: (text) => text };
  return policy.createHTML(html);
}

/** HTML as a document of its own in which no script runs, no handler fires and nothing is loaded. Only its text is to be used. */
export function parseInert(html: string): Document {
  return new DOMParser().parseFromString(trusted(html), "text/html");
}
