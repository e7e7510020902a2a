// The reference and the editor's hints are the declarations' comments: nothing that is exported goes without one.
import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";

const statements = ["index.d.ts", "relay/index.d.ts"].flatMap((name) => {
  const text = readFileSync(new URL(`../../pkg/dist/${name}`, import.meta.url), "utf8");
  return [...ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true).statements];
});

const isDocumented = (node: ts.Node) => ts.getJSDocCommentsAndTags(node).length > 0;
const nameOf = (node: ts.Declaration) => ts.getNameOfDeclaration(node)?.getText() ?? "";

/** Members that users name. Overloads share what one of them says. */
function members(node: ts.ClassDeclaration | ts.InterfaceDeclaration): Map<string, boolean> {
  const documented = new Map<string, boolean>();
  for (const member of node.members) {
    if (ts.isConstructorDeclaration(member)) continue;
    const name = nameOf(member);
    documented.set(name, isDocumented(member) || documented.get(name) === true);
  }
  return documented;
}

test("everything that is exported is documented, with each of its members", () => {
  const bare: string[] = [];
  let seen = 0;
  for (const statement of statements) {
    const declarations = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    for (const node of declarations) {
      if (ts.isExportDeclaration(node) || ts.isImportDeclaration(node)) continue;
      const name = nameOf(node as ts.Declaration);
      seen++;
      if (!isDocumented(statement)) bare.push(name);
      if (!ts.isClassDeclaration(node) && !ts.isInterfaceDeclaration(node)) continue;
      for (const [member, documented] of members(node)) if (!documented) bare.push(`${name}.${member}`);
    }
  }
  expect(seen).toBeGreaterThan(150);
  expect(bare).toEqual([]);
});
