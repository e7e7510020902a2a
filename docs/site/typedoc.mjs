// How TypeDoc makes the site: the guides in reading order, and the reference from the package's declarations. `cargo xtask docs` runs it.
import { readdirSync } from "node:fs";
import { Comment, CommentTag, Converter, PageEvent, ReflectionKind } from "typedoc";
import { writeDeclarations } from "../../pkg/declarations.mjs";

const here = (path) => new URL(path, import.meta.url).pathname;

const DOCS = new URL("../", import.meta.url);

/** The menu. A page that is not named here comes after those that are. */
const ORDER = [
  "guide/getting-started.md",
  "guide/commands.md",
  "guide/files.md",
  "guide/terminals.md",
  "guide/elements.md",
  "guide/code-cells.md",
  "guide/lifecycle.md",
  "sandbox-server.md",
  "errors.md",
  "guide/security.md",
  "guide/relay.md",
  "guide/providers.md",
  "guide/self-hosting.md",
  "guide/from-python.md",
  "guide/from-e2b.md",
  "guide/troubleshooting.md",
  "guide/architecture.md",
];
const others = readdirSync(DOCS, { recursive: true })
  .filter((name) => name.endsWith(".md") && !name.startsWith("site/") && !ORDER.includes(name))
  .sort();
const GUIDES = [...ORDER, ...others, "../local/README.md"];

const { file, sources } = writeDeclarations();

/** The module of the package itself. */
const REFERENCE = "Reference";

/** The heading under which the reference lists a name: the declaration file that it comes from. */
function category(name, line) {
  if (name.endsWith("Error") || name.endsWith("Error_")) return "Errors";
  const { source } = sources.findLast(({ firstLine }) => firstLine <= line);
  if (source.startsWith("server/")) return "SandboxServer";
  return source === "types/code.d.ts" ? "Code cells" : "Sandbox, commands, files, terminals";
}

function plugin(app) {
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    // TypeDoc names a module after its file.
    if (reflection.kindOf(ReflectionKind.Module))
      reflection.name = reflection.name.includes("relay") ? "Reference: relay" : REFERENCE;
    if (!reflection.parent?.kindOf(ReflectionKind.Module) || reflection.parent.name !== REFERENCE) return;
    const [declaration] = context.getSymbolFromReflection(reflection)?.declarations ?? [];
    if (!declaration) return;
    const { line } = declaration.getSourceFile().getLineAndCharacterOfPosition(declaration.getStart());
    reflection.comment ??= new Comment();
    reflection.comment.blockTags.push(new CommentTag("@category", [{ kind: "text", text: category(reflection.name, line + 1) }]));
  });
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    // The page's own title, in place of its file's name.
    const [title] = document.content;
    document.name = /^# (.+)$/m.exec(title?.text ?? "")?.[1] ?? document.name;
  });
  // TypeDoc checks links to anchors, but knows those of headings alone.
  app.renderer.on(PageEvent.BEGIN, ({ model }) => {
    if (!model.isDocument?.()) return;
    const slugger = app.renderer.router.getSlugger(model);
    const text = model.content.map((part) => part.text).join("");
    for (const [, id] of text.matchAll(/<a id="(.+?)">/g)) if (!slugger.hasAnchor(id)) slugger.slug(id);
  });
}

/** @type {Partial<import("typedoc").TypeDocOptions>} */
export default {
  name: "agent-sandbox-web",
  includeVersion: true,
  entryPoints: [file, here("../../pkg/src/relay/types.d.ts")],
  tsconfig: here("tsconfig.json"),
  readme: here("index.md"),
  projectDocuments: GUIDES.map((guide) => new URL(guide, DOCS).pathname),
  plugin: [plugin],
  out: here("../../target/docs"),
  customCss: here("site.css"),
  // `cargo xtask test types` has compiled the declarations.
  skipErrorChecking: true,
  disableSources: true,
  disableGit: true,
  treatWarningsAsErrors: true,
  searchInDocuments: true,
  navigation: { includeCategories: true, includeGroups: false },
  categorizeByGroup: false,
  sort: ["documents-first", "static-first", "alphabetical-ignoring-documents"],
  categoryOrder: ["Sandbox, commands, files, terminals", "Code cells", "SandboxServer", "Errors"],
  highlightLanguages: ["typescript", "tsx", "javascript", "python", "shellscript", "json", "html"],
  githubPages: false,
};
