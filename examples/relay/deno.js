// Deno: deno run --allow-net --allow-read --allow-env deno.js FOLDER
import { createApp } from "./app.js";
import { environment, filesOf } from "./files.js";

const app = createApp(environment(Deno.env.toObject()), filesOf(Deno.args[0], Deno.readFile));
const onListen = ({ port }) => console.log(`http://localhost:${port}`);
Deno.serve({ port: Number(Deno.env.get("PORT") ?? 8787), hostname: "127.0.0.1", onListen }, (request) => app.fetch(request));
