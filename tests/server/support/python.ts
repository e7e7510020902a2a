/** Virtual environments with the real server and the Python client. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const target = new URL("../../../target", import.meta.url).pathname;

/** The folder of the programs that the set-up of `cargo xtask test` installs for all tests. */
export function pythonPrograms(): string {
  const programs = join(process.env.PEER_ENVIRONMENTS ?? join(target, "peers"), "sandbox-server/bin");
  if (!existsSync(programs)) throw new Error(`${programs} is missing: run \`cargo xtask test\`, which installs it`);
  return programs;
}

/** Those and Playwright, for one test file alone, which therefore makes the environment itself. */
export function pythonProgramsWithPlaywright(): string {
  const environment = join(target, "sandbox-server-browser");
  const files = ["sandbox-server.requirements.txt", "requirements-browser.txt"];
  const wanted = files.map((file) => readFileSync(new URL(file, import.meta.url), "utf8")).join("");
  const stamp = join(environment, "installed.txt");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
    rmSync(environment, { recursive: true, force: true });
    execFileSync("python3", ["-m", "venv", environment]);
    const packages = wanted.split("\n").filter((line) => line !== "");
    execFileSync(join(environment, "bin/pip"), ["install", "--quiet", ...packages]);
    writeFileSync(stamp, wanted);
  }
  return join(environment, "bin");
}
