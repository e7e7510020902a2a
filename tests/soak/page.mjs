// What a page does in a soak: transfers whose bytes are made and dropped as they go.
import { Sandbox } from "agent-sandbox-web";

const open = ({ handoff, sandboxUrl }) => Sandbox.attach(handoff, { sandboxUrl });
const CHUNK = 1 << 20;

/** A stream of so many MiB. The same one is given again and again, so that what grows is not the source. */
function stream(mebibytes) {
  const chunk = new Uint8Array(CHUNK).fill(120);
  let made = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (made++ === mebibytes) controller.close();
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Writes a stream; progress must rise to the whole. */
globalThis.up = async (where, path, mebibytes) => {
  let last = 0;
  const { files } = await open(where);
  const onProgress = ({ loaded }) => {
    last = loaded;
  };
  await files.upload(stream(mebibytes), path, { onProgress });
  return last;
};

/** Writes a file of the browser's own. */
globalThis.upFile = async (where, path, mebibytes) => {
  const { files } = await open(where);
  const root = await navigator.storage.getDirectory();
  const handle = await root.getFileHandle("soak", { create: true });
  await stream(mebibytes).pipeTo(await handle.createWritable());
  let last = 0;
  const onProgress = ({ loaded }) => {
    last = loaded;
  };
  await files.upload(handle, path, { onProgress });
  await root.removeEntry("soak");
  return last;
};

/** Reads a file to nowhere and gives its length. */
globalThis.down = async (where, path) => {
  const { files } = await open(where);
  let length = 0;
  const write = (chunk) => {
    length += chunk.length;
  };
  await files.download(path, new WritableStream({ write }));
  return length;
};

globalThis.ready = true;
