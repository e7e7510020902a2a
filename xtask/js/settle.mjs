// What wasm-bindgen writes, made what users of this package should meet, and small: its text is replaced piece by piece.

/** What stands in front of all: what the generated classes have in common. */
const HEAD = `import { hidden, refused } from "./snippets/src/js/errors.js";

/** Not every edge worker has it. */
const Registry = globalThis.FinalizationRegistry ?? class { register() {} unregister() {} };

function wrapped(Class, registry, ptr) {
  const object = Object.create(Class.prototype);
  hidden(object, "__wbg_ptr", ptr);
  registry.register(object, ptr);
  return object;
}

function given(ret) {
  if (ret[2]) throw takeFromExternrefTable0(ret[1]);
  return takeFromExternrefTable0(ret[0]);
}
`;

/** How the module starts: handed to it, or to be fetched. The package asks once, and gives its own error for one that fails. */
const START = `let wasm;

async function start(source) {
  let module = await source;
  if ([globalThis.URL, globalThis.Request].some((Class) => Class && module instanceof Class) || typeof module === "string") {
    module = await fetch(module);
  }
  const imports = __wbg_get_imports();
  let made;
  if (globalThis.Response && module instanceof Response) {
    if (!module.ok) throw new Error(\`The server answered with HTTP status \${module.status}.\`);
    // Compiled while it comes, and kept compiled by browsers, if its type is the right one.
    if (module.headers.get("content-type") === "application/wasm") {
      made = await WebAssembly.instantiateStreaming?.(module, imports);
    }
    if (!made) module = await module.arrayBuffer();
  }
  made ??= await WebAssembly.instantiate(module, imports);
  wasm = (made.instance ?? made).exports;
  wasm.$1();
}

export { start as default };
`;

/** What is replaced, and by what. */
const REPLACED = [
  // Freeing is left to the collector.
  [/^if \(Symbol\.dispose\) .*\n/gm, ""],
  [/^ {4}free\(\) \{\n.*\n.*\n {4}\}\n/gm, ""],
  [/^ {4}__destroy_into_raw\(\) \{\n(?:.*\n){4} {4}\}\n/gm, ""],
  // An object of none of the classes gets a typed error.
  [/throw new Error\(getStringFromWasm0\(arg0, arg1\)\)/g, "throw refused(getStringFromWasm0(arg0, arg1))"],
  // Pointers into the module are no properties that anybody lists.
  [
    /const obj = Object\.create\((\w+)\.prototype\);\n.*\n +(\w+)\.register\(obj, obj\.__wbg_ptr, obj\);\n +return obj;/g,
    "return wrapped($1, $2, ptr);",
  ],
  [/^( +)this\.__wbg_ptr = (ret\[0\]);$/gm, '$1hidden(this, "__wbg_ptr", $2);'],
  [
    /const ret = (wasm\.\w+\(.*\));\n +if \(ret\[2\]\) \{\n.*\n +\}\n +return takeFromExternrefTable0\(ret\[0\]\);/g,
    "return given($1);",
  ],
  [/\(typeof FinalizationRegistry === 'undefined'\)\n.*\n +: new FinalizationRegistry\(/g, "new Registry("],
  // Every runtime with WebAssembly's references has what this is in place of.
  [/^if \(!\('encodeInto' in cachedTextEncoder\)\) \{\n(?:.*\n)*?\}\n/gm, ""],
  [/^ {4}if \(realloc === undefined\) \{\n(?:.*\n)*? {4}\}\n/gm, ""],
  [/^let wasmModule, wasmInstance, wasm;\n(?:.*\n)*? {4}wasm\.(\w+)\(\);\n(?:.*\n?)*$/gm, START],
];

/** A bundler's plugin for the file of that name. */
export function settle(name) {
  return {
    name: "settle-generated-glue",
    transform(code, id) {
      if (!id.endsWith(`/${name}`)) return;
      let settled = code;
      for (const [from, to] of REPLACED) {
        if (settled.search(from) < 0) throw new Error(`The generated glue has nothing like ${from}.`);
        settled = settled.replace(from, to);
      }
      return HEAD + settled;
    },
  };
}
