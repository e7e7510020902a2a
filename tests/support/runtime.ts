/** The packages of code cells, which all platforms under test share. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { platformBinary } from "./platform.ts";

/** Where they are. */
export const runtimeDir = new URL("../../target/runtime", import.meta.url).pathname;

/** The first use on a machine installs them. */
export const FIRST_USE_MS = 900_000;

/** Makes sure that they are there. */
export async function prepareRuntime(): Promise<void> {
  await promisify(execFile)(platformBinary(), ["prepare", "--runtime-dir", runtimeDir]);
}
