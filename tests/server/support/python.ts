/** Virtual environments with the real server and the Python client, each made once. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const repository = new URL("../../../", import.meta.url).pathname;

/** The folder of the environment's programs; `browser` is one that has Playwright, too. */
export function pythonPrograms(kind: "plain" | "browser" = "plain"): string {
  const environment = join(repository, "target", kind === "plain" ? "sandbox-server-venv" : "sandbox-server-browser-venv");
  const files = kind === "plain" ? ["requirements.txt"] : ["requirements.txt", "requirements-browser.txt"];
  const wanted = files.map((file) => readFileSync(new URL(file, import.meta.url), "utf8")).join("");
  const stamp = join(environment, "requirements.txt");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
    rmSync(environment, { recursive: true, force: true });
    mkdirSync(join(repository, "target"), { recursive: true });
    execFileSync("python3", ["-m", "venv", environment]);
    const packages = wanted.split("\n").filter((line) => line !== "");
    execFileSync(join(environment, "bin/pip"), ["install", "--quiet", "--pre", ...packages]);
    writeFileSync(stamp, wanted);
  }
  return join(environment, "bin");
}
