// What the declarations promise exists at run time, and what exists is declared.
import { readdirSync, readFileSync } from "node:fs";
import { inspect } from "node:util";
import type { Sandbox, TerminalSession } from "agent-sandbox-web";
import * as sdk from "agent-sandbox-web";
import * as manual from "agent-sandbox-web/manual";
import ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import { Body, fakeFetch } from "./support/fake-fetch.ts";
import { start } from "./support/wire.ts";
import { ROWS } from "./surface.rows.ts";

/** The exports by name. */
const runtime = Object.fromEntries(Object.entries(sdk)) as Record<string, { prototype: object; code?: string }>;

const file = new URL("../../pkg/dist/index.d.ts", import.meta.url);
const source = ts.createSourceFile("index.d.ts", readFileSync(file, "utf8"), ts.ScriptTarget.ES2022, true);
const classes = new Map<string, ts.ClassDeclaration>();
/** An interface may be declared in several places, and then is all of them together. */
const interfaces = new Map<string, ts.InterfaceDeclaration[]>();
const values = new Set<string>();
/** Names of every declaration, types too. */
const declared = new Set<string>();

for (const statement of source.statements) {
  if ((ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement)) && statement.name)
    declared.add(statement.name.text);
  if (ts.isClassDeclaration(statement) && statement.name) {
    classes.set(statement.name.text, statement);
    values.add(statement.name.text);
  } else if (ts.isInterfaceDeclaration(statement)) {
    interfaces.set(statement.name.text, [...(interfaces.get(statement.name.text) ?? []), statement]);
  } else if (ts.isFunctionDeclaration(statement) && statement.name) values.add(statement.name.text);
  else if (ts.isVariableStatement(statement)) {
    for (const { name } of statement.declarationList.declarations) values.add(name.getText(source));
  } else if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)) {
    for (const { name } of statement.exportClause.elements) values.add(name.text);
  }
}

/** Classes that wasm or the package makes, and not the error classes, whose members are set by their constructor. */
const product = [...classes].filter(([name]) => !name.endsWith("Error"));

type Member = { name: string; key: string | symbol; isStatic: boolean; isMethod: boolean };

function membersOf(declaration: ts.ClassDeclaration | ts.InterfaceDeclaration): Member[] {
  const members = new Map<string, Member>();
  for (const member of declaration.members) {
    if (!member.name) continue;
    const name = member.name.getText(source);
    const isStatic =
      ts.canHaveModifiers(member) && (ts.getModifiers(member) ?? []).some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword);
    const symbol = /^\[Symbol\.(\w+)\]$/.exec(name)?.[1] as keyof SymbolConstructor | undefined;
    const isMethod = ts.isMethodDeclaration(member) || ts.isMethodSignature(member);
    members.set(`${isStatic} ${name}`, {
      name: isStatic ? `static ${name}` : name,
      key: symbol ? (Symbol[symbol] as symbol) : name,
      isStatic,
      isMethod,
    });
  }
  return [...members.values()];
}

function membersOfInterface(name: string): Member[] {
  return (interfaces.get(name) ?? []).flatMap(membersOf);
}

/** Members of a class and of the interfaces that are merged into it. */
function allMembersOf(name: string, declaration: ts.ClassDeclaration): Member[] {
  return [...membersOf(declaration), ...membersOfInterface(name)];
}

/** Error classes that share the code of another: Python's have done so all along. */
const SHARED_CODES = ["CommandArgumentError", "CommandExecutionError", "FilePolicyDeniedError"];

function check(of: string, target: object, member: Member): void {
  expect(member.key in target, `${of} has ${member.name}`).toBe(true);
  if (!member.isMethod) return;
  const method = (target as Record<string | symbol, unknown>)[member.key] as { name: string };
  expect(typeof method, `${of}.${member.name}`).toBe("function");
  if (typeof member.key === "string") expect(method.name, `${of}.${member.name} has a name`).not.toBe("");
}

/** Some members are set with the first object of a class. */
let made: { sandbox: Sandbox; terminal: TerminalSession };
beforeAll(async () => {
  const fetch = fakeFetch((call) => (call.path.endsWith("/Start") ? new Body([start()], "stay") : undefined));
  const sandbox = await sdk.Sandbox.attach({ sandboxId: "i1", sandboxUrl: "https://sandbox.test" }, { fetch });
  made = { sandbox, terminal: await sandbox.getTerminal() };
});

test("the exports are those that are declared", () => {
  expect(Object.keys(sdk).sort()).toEqual([...values].sort());
  expect(Object.keys(manual).sort()).toEqual([...values].sort());
  expect(sdk.AsyncSandbox).toBe(sdk.Sandbox);
});

describe.each(product)("%s", (name, declaration) => {
  const exported = runtime[name] ?? { prototype: {} };

  test.each(allMembersOf(name, declaration).map((member) => [member.name, member] as const))("%s", (_, member) => {
    if (member.isStatic) check(name, exported, member);
    else check(name, exported.prototype, member);
  });

  test("has nothing that is not declared", () => {
    const declared = new Set(
      allMembersOf(name, declaration).map(({ key, isStatic }) => (isStatic ? `static ${String(key)}` : String(key))),
    );
    // What wasm-bindgen adds to every class: the memory's own upkeep.
    const generated = ["constructor", "free", "toString", "Symbol(Symbol.toStringTag)", "Symbol(nodejs.util.inspect.custom)"];
    const own = Reflect.ownKeys(exported.prototype)
      .filter((key) => key !== Symbol.dispose)
      .map(String);
    expect(own.filter((key) => !declared.has(key) && !generated.includes(key) && !key.startsWith("__"))).toEqual([]);
    const statics = Reflect.ownKeys(exported).map(String);
    const builtIn = ["length", "name", "prototype"];
    expect(statics.filter((key) => !declared.has(`static ${key}`) && !builtIn.includes(key) && !key.startsWith("__"))).toEqual([]);
  });
});

test("error classes stand where they are declared to stand, with a code of their own", () => {
  const codes = new Set<string>();
  for (const [name, declaration] of classes) {
    if (!name.endsWith("Error")) continue;
    const parent = declaration.heritageClauses?.[0]?.types[0]?.expression.getText(source) ?? "";
    expect(Object.getPrototypeOf(runtime[name]), `${name} extends ${parent}`).toBe(parent === "Error" ? Error : runtime[parent]);
    codes.add(runtime[name]?.code ?? "");
  }
  const own = [...classes.keys()].filter((name) => name.endsWith("Error") && !SHARED_CODES.includes(name));
  expect(codes.size).toBe(own.length);
});

test("printing and JSON show what an object is, and nothing that lets anybody in", async () => {
  const { sandbox, terminal } = made;
  const command = await sandbox.commands.start("x");
  const pty = await sandbox.pty.create();
  expect(JSON.parse(JSON.stringify(sandbox))).toEqual({ sandboxId: "i1", status: "running", template: "" });
  expect(inspect(sandbox)).toBe("Sandbox { sandboxId: 'i1', status: 'running', template: '' }");
  expect(inspect(sandbox.files)).toBe("Files {}");
  expect(inspect(sandbox.code)).toBe("Code {}");
  for (const [name, handle] of [
    ["CommandHandle", command],
    ["PtyHandle", pty],
    ["TerminalSession", terminal],
  ] as const) {
    expect(JSON.parse(JSON.stringify(handle))).toEqual({ pid: handle.pid });
    expect(inspect(handle)).toBe(`${name} { pid: ${handle.pid} }`);
  }
  await Promise.all([command.disconnect(), pty.disconnect()]);
});

test("an error's stack begins with its name and message, leads to the caller and leaves the package's own frames out", async () => {
  const closed = () => made.sandbox.getUrl(70_000);
  let error = new Error("nothing was thrown");
  try {
    closed();
  } catch (caught) {
    error = caught as Error;
  }
  const rejection = (await made.sandbox.files.read("").catch((caught: unknown) => caught)) as Error;
  for (const { stack, message } of [error, rejection]) {
    expect(stack?.split("\n")[0]).toBe(`InvalidArgumentError: ${message}`);
    expect(stack).not.toMatch(/wasm|snippets/);
  }
  // The second failed when its call had long returned, and was not the test's to await.
  expect(error.stack).toContain("surface.test");
  expect(rejection.stack).toContain("surface.test");
});

/** Members of an interface or class, inherited ones too. */
function inheritedMembers(name: string): Member[] {
  const own = classes.get(name);
  const declarations = [...(own ? [own] : []), ...(interfaces.get(name) ?? [])];
  const parents = declarations.flatMap(({ heritageClauses = [] }) =>
    heritageClauses.flatMap(({ types }) => types.map(({ expression }) => expression.getText(source))),
  );
  return [...declarations.flatMap(membersOf), ...parents.flatMap(inheritedMembers)];
}

/** The text of every file of tests but the table of rows itself. */
const testSources = (readdirSync(new URL("../", import.meta.url), { recursive: true, encoding: "utf8" }) as string[])
  .filter((name) => /^(client|server|peers|docs|console)\/.*\.ts$/.test(name) && !name.endsWith("surface.rows.ts"))
  .map((name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8"))
  .join("\n");

test.each(ROWS.map((row) => [`${row.section}: ${row.seed}`, row] as const))(
  "%s exists, is typed and has a test",
  (_, { here, test: title }) => {
    const [, of = "", kind, member] = /^([\w]+)(?:([.#])(.+))?$/.exec(here) ?? [];
    if (kind === undefined) {
      expect(values.has(of) || declared.has(of), `${of} is declared`).toBe(true);
      if (values.has(of)) expect(of in runtime, `${of} is exported`).toBe(true);
    } else {
      const isStatic = kind === "." && classes.has(of);
      const found = inheritedMembers(of).find(({ name }) => name === (isStatic ? `static ${member}` : member));
      expect(found, `${here} is declared`).toBeDefined();
      if (found && classes.has(of)) check(of, isStatic ? (runtime[of] as object) : (runtime[of]?.prototype ?? {}), found);
    }
    expect(title.length > 3 && testSources.includes(title), `a test is called: ${title}`).toBe(true);
  },
);

test("the states have names", () => {
  expect(Object.values(sdk.SandboxStatus)).toEqual(["creating", "running", "paused", "stopping", "stopped", "error"]);
});

test("the old names of errors are the same classes", () => {
  expect(sdk.ConnectionError_).toBe(sdk.SandboxConnectionError);
  expect(sdk.FileNotFoundError_).toBe(sdk.FileNotFoundError);
});

test("handles and streams have the members of their interfaces", async () => {
  const { sandbox, terminal } = made;
  const command = await sandbox.commands.start("x");
  const pty = await sandbox.pty.create();
  const inherited = membersOfInterface("ChunkStream");
  for (const [name, handle] of [
    ["CommandHandle", command],
    ["PtyHandle", pty],
    ["ChunkStream", sandbox.commands.stream("x")],
    ["ChunkStream", terminal.outputStream()],
  ] as [string, object][]) {
    for (const member of [...inherited, ...membersOfInterface(name)]) check(name, handle, member);
    check(name, handle, { name: "[Symbol.asyncIterator]", key: Symbol.asyncIterator, isStatic: false, isMethod: true });
  }
  await Promise.all([command.disconnect(), pty.disconnect(), terminal.detach()]);
});
