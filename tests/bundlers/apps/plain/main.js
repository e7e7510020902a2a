import { stream } from "./stream.js";

const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });

async function main() {
  const connection = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  await stream(connection, (text) => document.querySelector("#page").append(text));
  worker.onmessage = ({ data }) => {
    if (data === undefined) document.title = "done";
    else document.querySelector("#worker").append(data);
  };
  worker.postMessage(connection);
}

main();
