// What the entries use of the client's error classes; the build puts the file itself beside the glue.

export * from "../../../../../src/server/types.d.ts";
export * from "../../../../../src/types.d.ts";

/** Builds an error of the class of that name. */
export function makeError(className: string, message: string, suggestion: string, details: { cause?: unknown }): Error;
