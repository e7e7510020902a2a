// What the package's entries use of the crate's own JavaScript.
export * from "../server/js/client.js";
export * from "./errors.js";
export { bindFiles } from "./files.js";
export { bindMembers } from "./members.js";
export { CONNECTION, CREATION, checkOptions, guardClass } from "./options.js";
export { place } from "./place.js";
export { setProxyFetch } from "./runtime.js";
