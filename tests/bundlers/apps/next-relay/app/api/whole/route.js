import * as sdk from "agent-sandbox-web";

export const dynamic = "force-dynamic";

export async function GET() {
  // Copied, so that the bundler keeps all of the package.
  const { AsyncSandbox, InvalidArgumentError, Sandbox } = { ...sdk };
  return Response.json({ alias: AsyncSandbox === Sandbox, error: new InvalidArgumentError("").name });
}
