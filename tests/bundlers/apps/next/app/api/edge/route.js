import * as sdk from "agent-sandbox-web";
import { runCalls } from "../../../calls.js";
import given from "../../../given.js";

export const runtime = "edge";
export const dynamic = "force-dynamic";

export async function GET() {
  return Response.json(await runCalls(sdk, given));
}
