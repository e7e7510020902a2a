import type { Extension } from "@codemirror/state";

type Load = () => Promise<Extension>;

const legacy = (load: () => Promise<import("@codemirror/language").StreamParser<unknown>>): Load => {
  return async () => {
    const [{ StreamLanguage }, parser] = await Promise.all([import("@codemirror/language"), load()]);
    return StreamLanguage.define(parser);
  };
};
const javascript =
  (typescript: boolean, jsx: boolean): Load =>
  async () =>
    (await import("@codemirror/lang-javascript")).javascript({ typescript, jsx });
const clike = (name: "c" | "cpp" | "csharp" | "java" | "kotlin"): Load =>
  legacy(async () => (await import("@codemirror/legacy-modes/mode/clike"))[name]);
const css: Load = async () => (await import("@codemirror/lang-css")).css();
const html: Load = async () => (await import("@codemirror/lang-html")).html();
const json: Load = async () => (await import("@codemirror/lang-json")).json();
const markdown: Load = async () => (await import("@codemirror/lang-markdown")).markdown();
const python: Load = async () => {
  const [{ python }, { indentUnit }] = await Promise.all([import("@codemirror/lang-python"), import("@codemirror/language")]);
  // Four, where the file does not show another habit.
  return [python(), indentUnit.of("    ")];
};
const rust: Load = async () => (await import("@codemirror/lang-rust")).rust();
const yaml: Load = async () => (await import("@codemirror/lang-yaml")).yaml();
const shell = legacy(async () => (await import("@codemirror/legacy-modes/mode/shell")).shell);
const toml = legacy(async () => (await import("@codemirror/legacy-modes/mode/toml")).toml);
const xml = legacy(async () => (await import("@codemirror/legacy-modes/mode/xml")).xml);
const properties = legacy(async () => (await import("@codemirror/legacy-modes/mode/properties")).properties);
const dockerfile = legacy(async () => (await import("@codemirror/legacy-modes/mode/dockerfile")).dockerFile);

const BY_NAME: Record<string, [name: string, load: Load]> = {
  dockerfile: ["Dockerfile", dockerfile],
  ".bashrc": ["Shell", shell],
  ".profile": ["Shell", shell],
  ".bash_logout": ["Shell", shell],
};

const BY_EXTENSION: Record<string, [name: string, load: Load]> = {
  bash: ["Shell", shell],
  c: ["C", clike("c")],
  cc: ["C++", clike("cpp")],
  cfg: ["Properties", properties],
  cjs: ["JavaScript", javascript(false, false)],
  conf: ["Properties", properties],
  cpp: ["C++", clike("cpp")],
  cs: ["C#", clike("csharp")],
  css: ["CSS", css],
  diff: ["Diff", legacy(async () => (await import("@codemirror/legacy-modes/mode/diff")).diff)],
  env: ["Properties", properties],
  go: ["Go", legacy(async () => (await import("@codemirror/legacy-modes/mode/go")).go)],
  h: ["C", clike("c")],
  hpp: ["C++", clike("cpp")],
  htm: ["HTML", html],
  html: ["HTML", html],
  ini: ["Properties", properties],
  ipynb: ["JSON", json],
  java: ["Java", clike("java")],
  js: ["JavaScript", javascript(false, false)],
  json: ["JSON", json],
  jsx: ["JavaScript", javascript(false, true)],
  kt: ["Kotlin", clike("kotlin")],
  lua: ["Lua", legacy(async () => (await import("@codemirror/legacy-modes/mode/lua")).lua)],
  md: ["Markdown", markdown],
  mjs: ["JavaScript", javascript(false, false)],
  patch: ["Diff", legacy(async () => (await import("@codemirror/legacy-modes/mode/diff")).diff)],
  py: ["Python", python],
  r: ["R", legacy(async () => (await import("@codemirror/legacy-modes/mode/r")).r)],
  rb: ["Ruby", legacy(async () => (await import("@codemirror/legacy-modes/mode/ruby")).ruby)],
  rs: ["Rust", rust],
  sh: ["Shell", shell],
  sql: ["SQL", legacy(async () => (await import("@codemirror/legacy-modes/mode/sql")).standardSQL)],
  svg: ["XML", xml],
  toml: ["TOML", toml],
  ts: ["TypeScript", javascript(true, false)],
  tsx: ["TypeScript", javascript(true, true)],
  xml: ["XML", xml],
  yaml: ["YAML", yaml],
  yml: ["YAML", yaml],
  zsh: ["Shell", shell],
};

/** A language by a file's name: what it is called, and how its highlighting is loaded. `undefined` for plain text. */
export function languageOf(fileName: string): { name: string; load: Load } | undefined {
  const lower = fileName.toLowerCase();
  const extension = lower.slice(lower.lastIndexOf(".") + 1);
  const found = Object.hasOwn(BY_NAME, lower)
    ? BY_NAME[lower]
    : Object.hasOwn(BY_EXTENSION, extension)
      ? BY_EXTENSION[extension]
      : undefined;
  return found && { name: found[0], load: found[1] };
}
