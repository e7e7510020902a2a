// Files up and down, and small calls, by this project's client and by a plain fetch. Runs in Node and, bundled, in a page.
import { attach } from "./attach.mjs";

async function drain(stream) {
  const reader = stream.getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return length;
    length += value.length;
  }
}

async function seconds(run) {
  const started = performance.now();
  await run();
  return (performance.now() - started) / 1000;
}

let data;

/** Takes a file of so many bytes one way, in seconds. */
export async function transfer(how, settings, path, bytes) {
  const sandbox = await attach(settings);
  data ??= new Blob([new Uint8Array(bytes).fill(120)]);
  const check = (length) => {
    if (length !== bytes) throw new Error(`${length} bytes instead of ${bytes}`);
  };
  const post = async () => {
    const headers = { "content-type": "application/octet-stream" };
    const answer = await fetch(sandbox.uploadUrl(path), { method: "POST", headers, body: data });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    await answer.text();
  };
  const ways = {
    "plain download": async () => check(await drain((await fetch(sandbox.downloadUrl(path), { cache: "no-store" })).body)),
    "client download": async () => check(await drain(await sandbox.files.read(path, { format: "stream", requestTimeoutMs: 0 }))),
    "plain upload": post,
    "client upload": () => sandbox.files.write(path, data, { requestTimeoutMs: 0 }),
  };
  return seconds(ways[how]);
}

/** Milliseconds of each of so many small calls by the client and by a plain fetch, which take turns: what else the machine does meets both. */
export async function calls(settings, times) {
  const sandbox = await attach(settings);
  const { sandboxId, sandboxUrl, envdAccessToken } = settings;
  const base = sandboxUrl.replace("{sandboxId}", sandboxId).replace("{port}", "49983");
  const headers = { "content-type": "application/json", "x-access-token": envdAccessToken };
  const ways = {
    plain: async () => {
      const init = { method: "POST", headers, body: '{"path":"/home"}' };
      await (await fetch(`${base}/filesystem.Filesystem/Stat`, init)).json();
    },
    client: () => sandbox.files.exists("/home"),
  };
  const took = { plain: [], client: [] };
  for (let i = 0; i < times; i++) {
    for (const way of ["plain", "client"]) took[way].push((await seconds(ways[way])) * 1000);
  }
  return took;
}

/** Milliseconds from each key to its echo, one at a time; and whether as many keys at once came back in order. */
export async function keys(settings, times) {
  const sandbox = await attach(settings);
  const session = await sandbox.getTerminal({ shell: "/bin/cat" });
  const decoder = new TextDecoder();
  let shown = "";
  const until = async (length) => {
    while (shown.length < length) shown += decoder.decode(await session.receive(), { stream: true });
  };
  const key = (i) => String.fromCharCode(97 + (i % 26));
  const took = [];
  // The line discipline echoes a line of up to 4,095 characters.
  for (let i = 0; i < times; i++) {
    const before = shown.length;
    took.push(
      (await seconds(async () => {
        await Promise.all([session.send(key(i)), until(before + 1)]);
      })) * 1000,
    );
  }
  await session.send("\x15");
  await session.close();
  const typing = await sandbox.getTerminal({ shell: "/bin/cat" });
  const text = Array.from({ length: times }, (_, i) => key(i)).join("");
  let echoed = "";
  const sent = Promise.all(Array.from(text, (one) => typing.send(one)));
  while (echoed.length < times) echoed += decoder.decode(await typing.receive());
  await sent;
  await typing.close();
  return { took, inOrder: echoed === text };
}
