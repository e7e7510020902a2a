import { Sandbox } from "agent-sandbox-web";

export async function stream({ handoff, sandboxUrl }, show) {
  const sandbox = await Sandbox.attach(handoff, { sandboxUrl });
  for await (const chunk of sandbox.commands.stream("for i in 1 2 3; do echo $i; done")) {
    if (chunk.type === "stdout") show(chunk.data);
  }
  await sandbox.close();
}
