// node --expose-gc node.mjs READER COMMAND RUNS MEMORY SETTINGS: prints the measurements as JSON, in a process that does nothing else.
import { measure } from "./measure.mjs";

const [reader, command, runs, withMemory, settings] = process.argv.slice(2);
const { open } = await import(`./${reader}.mjs`);
const read = await open(JSON.parse(settings));

const memory = () => {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const measurements = [];
for (let run = 0; run < Number(runs); run++)
  measurements.push(await measure(read, command, withMemory === "true" ? memory : undefined));
process.stdout.write(JSON.stringify(measurements));
process.exit(0);
