// What needs the web's types to be refused; compiled by `types.test.ts` where there are some, never run.
import type { Sandbox } from "agent-sandbox-web";

export async function refused({ files, commands }: Sandbox): Promise<void> {
  // @ts-expect-error A number is no content.
  await files.write("a", 5);
  // @ts-expect-error A controller is no signal.
  await commands.run("x", { signal: new AbortController() });
  // @ts-expect-error What is read as a stream is one of bytes.
  const texts: ReadableStream<string> = await files.read("a", { format: "stream" });
  void texts;
}

export async function accepted({ files, runCode }: Sandbox): Promise<Blob[]> {
  // What comes back is the caller's own memory, which a blob takes.
  const { results } = await runCode("1");
  return [new Blob([await files.readBytes("a")]), new Blob([results[0]?.bytes("png") ?? ""])];
}
