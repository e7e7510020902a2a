// Two copies of the package in one program, as two bundles on one page have them: each works, and knows the errors of the other.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as sdk from "agent-sandbox-web";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "copies-test-"));
let other: typeof sdk;
beforeAll(async () => {
  cpSync(new URL("../../pkg/dist", import.meta.url), folder, { recursive: true });
  cpSync(new URL("../../pkg/package.json", import.meta.url), join(folder, "package.json"));
  other = (await import(/* @vite-ignore */ join(folder, "node.js"))) as typeof sdk;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Classes = Record<string, abstract new (...args: never[]) => object>;

test("an error of one copy is an instance of the other's classes, and of no class that it is not", async () => {
  expect(other.Sandbox).not.toBe(sdk.Sandbox);
  expect(other.SandboxError).not.toBe(sdk.SandboxError);
  const theirs = (make: unknown, ...args: unknown[]) => new (make as new (...args: unknown[]) => Error)(...args);
  const [missing, denied] = [theirs(other.FileNotFoundError, "gone"), theirs(other.FilePolicyDeniedError, "no")];
  const of = (error: unknown) => {
    const names = Object.entries(sdk).filter(
      ([name, Class]) => name.endsWith("Error") && error instanceof (Class as Classes[string]),
    );
    return names.map(([name]) => name).sort();
  };
  expect(of(missing)).toEqual(["FileNotFoundError", "FileOperationError", "SandboxError"]);
  // It has two parents.
  expect(of(denied)).toEqual(
    [
      "FilePolicyDeniedError",
      "FileOperationError",
      "PermissionDeniedError",
      "PolicyDeniedError",
      "SandboxError",
      "ServerAPIError",
    ].sort(),
  );

  const Missing = sdk.FileNotFoundError as unknown as new (message: string) => Error;
  class Own extends Missing {}
  expect(missing instanceof Own).toBe(false);
  expect(new Own("mine") instanceof other.FileNotFoundError).toBe(true);
  expect(new Error("theirs") instanceof sdk.SandboxError).toBe(false);
  expect(Object.assign(new Error("theirs"), { code: "E4001" }) instanceof sdk.SandboxError).toBe(false);
});

test("sandboxes of both live beside each other, and one copy takes over what the other hands it", async () => {
  const { apiUrl, apiKey, sandboxUrl } = inject("platform");
  await using one = await sdk.Sandbox.create({ apiUrl, apiKey, sandboxUrl });
  const two = await other.Sandbox.attach(one.handoff());
  await two.files.write("from-two.txt", "written by the other copy");
  expect(await one.files.read("from-two.txt")).toBe("written by the other copy");
  await expect(two.files.read("nothing")).rejects.toBeInstanceOf(sdk.FileNotFoundError);
  await expect(one.files.read("nothing")).rejects.toBeInstanceOf(other.FileNotFoundError);
  // A method of one class on an object of the other's is refused, and reads no memory that is not its own.
  const { getInfo } = sdk.Sandbox.prototype;
  await expect(Reflect.apply(getInfo, two, [])).rejects.toMatchObject({ code: "E0001" });
  expect(() => Reflect.apply(sdk.Sandbox.prototype.handoff, two, [])).toThrow(sdk.InvalidArgumentError);
});
