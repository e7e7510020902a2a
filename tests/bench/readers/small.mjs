// node small.mjs calls|keys TIMES SETTINGS: prints as JSON what the second run of it measured; the first warms up what there is to warm.
import { calls, keys } from "./transfer.mjs";

const [what, times, settings] = process.argv.slice(2);
const run = () => ({ calls, keys })[what](JSON.parse(settings), Number(times));
await run();
process.stdout.write(JSON.stringify(await run()));
process.exit(0);
