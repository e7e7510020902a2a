import wasm from "agent-sandbox-web/agent_sandbox_web_bg.wasm";
import { init, Sandbox } from "agent-sandbox-web/manual";

async function main() {
  const { handoff, sandboxUrl } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  await init(wasm);
  const sandbox = await Sandbox.attach(handoff, { sandboxUrl });
  for await (const chunk of sandbox.commands.stream("for i in 1 2 3; do echo $i; done")) {
    if (chunk.type === "stdout") document.querySelector("#page").append(chunk.data);
  }
  document.title = "done";
}

main();
