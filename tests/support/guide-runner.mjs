// Runs the compiled examples of the guides one after the other, and writes how each went.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "node:util";
import { Sandbox } from "agent-sandbox-web";

const { folder, count, report, connection } = JSON.parse(process.argv[2]);
const sandbox = await Sandbox.create("code-interpreter-v1", { ...connection, timeoutMs: 3_600_000 });
// The kernel starts with its first cell, which on a busy machine takes longer than a request may.
await sandbox.runCode("None", { timeoutMs: 0, requestTimeoutMs: 0 });
Object.assign(globalThis, { sandbox, connection });

const outcomes = [];
for (let index = 0; index < count; index++) {
  const lines = [];
  console.log = (...values) => lines.push(...format(...values).split("\n"));
  const outcome = { lines };
  try {
    await import(join(folder, `${index}.mjs`));
  } catch (error) {
    outcome.error = error instanceof Error ? `${error.stack}` : String(error);
  }
  outcomes.push(outcome);
}
await sandbox.kill();
writeFileSync(report, JSON.stringify(outcomes));
