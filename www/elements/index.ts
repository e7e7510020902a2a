/**
 * Custom elements for working in a sandbox. Each takes a `Sandbox` as its property `sandbox`; `theme.css` holds their colours.
 *
 * | element | what it is |
 * |---|---|
 * | `<sandbox-console>` | files, editor, commands, a notebook and terminals together |
 * | `<sandbox-files>` | a tree of files with an editor |
 * | `<sandbox-editor>` | the editor alone |
 * | `<sandbox-command>` | a box to run commands in |
 * | `<sandbox-terminal>` | one shell |
 * | `<sandbox-notebook>` | code cells with their results; loads its parts when it is used |
 * | `<sandbox-metrics>` | usage over time, open ports, processes and the log |
 * | `<sandbox-error>` | an error as a panel |
 */

export { SandboxCommand } from "./sandbox-command.js";
export { SandboxConsole } from "./sandbox-console.js";
export { SandboxEditor } from "./sandbox-editor.js";
export { SandboxErrorPanel } from "./sandbox-error.js";
export { SandboxFiles } from "./sandbox-files.js";
export { SandboxMetricsElement } from "./sandbox-metrics.js";
export { SandboxNotebook } from "./sandbox-notebook.js";
export { SandboxTerminal } from "./sandbox-terminal.js";
