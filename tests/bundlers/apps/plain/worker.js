import { stream } from "./stream.js";

addEventListener("message", async ({ data }) => {
  await stream(data, (text) => postMessage(text));
  postMessage(undefined);
});
