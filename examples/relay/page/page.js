// The page. It knows where the relay is, and nothing else.
import { Sandbox } from "agent-sandbox-web";

const find = (id) => document.getElementById(id);
const [signIn, state, output] = ["sign-in", "state", "output"].map(find);
const steps = ["sandbox", "command", "shell"].map(find);
const relay = "/api/sandbox";

let sandbox;
let server;

function show(text) {
  output.textContent += text;
}

/** Does what a form asks for, and shows what goes wrong. */
function on(form, event, work) {
  form.addEventListener(event, async (given) => {
    given.preventDefault();
    output.textContent = "";
    document.body.ariaBusy = "true";
    try {
      await work(given);
    } catch (error) {
      show(`${error.name}: ${error.message}\n${error.suggestion ?? ""}`);
    } finally {
      document.body.ariaBusy = "false";
    }
  });
}

on(signIn, "submit", async () => {
  const body = JSON.stringify({ name: signIn.elements.name.value });
  const answer = await fetch("/sign-in", { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
  steps[0].hidden = false;
  const mine = await Sandbox.list({ relay }).toArray();
  show(`Signed in. You have ${mine.length} sandboxes.\n`);
});

const { create, kill } = steps[0].elements;

on(create, "click", async () => {
  sandbox = await Sandbox.create("base", { relay, timeoutMs: 300_000 });
  server = undefined;
  state.value = `${sandbox.sandboxId} runs`;
  kill.disabled = false;
  for (const step of steps) step.hidden = false;
});

on(kill, "click", async () => {
  await sandbox.kill();
  state.value = `${sandbox.sandboxId} has ended`;
  kill.disabled = true;
});

on(steps[1], "submit", async () => {
  for await (const chunk of sandbox.commands.stream(steps[1].elements.line.value)) {
    if (chunk.type !== "exit") show(chunk.data);
  }
});

on(steps[2], "submit", async ({ submitter }) => {
  const { value } = steps[2].elements.line;
  server ??= await sandbox.startServer({ token: crypto.randomUUID() });
  if (submitter.name === "http") {
    const { stdout, stderr } = await server.process.shell(value);
    show(stdout + stderr);
    return;
  }
  const { sessionId } = await server.pty.create();
  const terminal = await server.pty.connect(sessionId);
  await terminal.send(`${value}; exit\n`);
  for await (const message of terminal) show(message.data ?? "");
});
