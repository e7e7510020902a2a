// The groups whose methods are one call each.
import { camel } from "./answers.js";
import { define, fields, Group, linkOf } from "./link.js";

export class ServerSystem extends Group {}

define(ServerSystem, "system.", {
  info: ["system_info", [], camel],
  metrics: ["system_metrics", [], camel],
  env: ["env_get", ["names"], (answer) => answer.variables ?? {}],
  setEnv: ["env_set", ["vars"], (answer) => answer.updated ?? []],
  ports: ["ports", [], (answer) => camel(answer.listening ?? [])],
  packages: ["packages", ["manager"], camel],
});

export class ServerDevtools extends Group {}

define(ServerDevtools, "devtools.", {
  runCode: ["code_run", ["code", "language"], camel],
  gitStatus: ["git_status", ["path"], camel],
  gitDiff: ["git_diff", ["path"], camel],
});

export class ServerBrowser extends Group {}

define(ServerBrowser, "browser.", {
  navigate: ["browser_navigate", ["url"], camel],
  screenshot: ["browser_screenshot", [], (answer) => answer.image_base64],
  content: ["browser_content", ["type"], camel],
  click: ["browser_click", ["selector"], camel],
  type: ["browser_type", ["selector", "text"], camel],
  evaluate: ["browser_evaluate", ["script"], (answer) => answer.result],
  pdf: ["browser_pdf", [], (answer) => answer.pdf_base64],
  console: ["browser_console", [], (answer) => answer.logs ?? []],
});

export class ServerCommands extends Group {
  async run(name, args, options) {
    const link = linkOf(this);
    try {
      return (await link.call("run_command", fields(options, { name, args }))).result;
    } catch (error) {
      if (error?.name === "CommandNotFoundError") error.commandName = name;
      throw error;
    }
  }
}

define(ServerCommands, "commands.", {
  list: ["list_commands", [], (answer) => camel(answer.commands ?? [])],
  run: "run_command",
});
