/** A virtual environment with the real server and the Python client, made once. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const repository = new URL("../../../", import.meta.url).pathname;
const requirements = new URL("requirements.txt", import.meta.url).pathname;

/** The folder of the environment's programs. */
export function pythonPrograms(): string {
  const environment = join(repository, "target/sandbox-server-venv");
  const wanted = readFileSync(requirements, "utf8");
  const stamp = join(environment, "requirements.txt");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
    rmSync(environment, { recursive: true, force: true });
    mkdirSync(join(repository, "target"), { recursive: true });
    execFileSync("python3", ["-m", "venv", environment]);
    execFileSync(join(environment, "bin/pip"), ["install", "--quiet", "--pre", "--requirement", requirements]);
    writeFileSync(stamp, wanted);
  }
  return join(environment, "bin");
}
