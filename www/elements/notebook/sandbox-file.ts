/** Notebooks in files of a sandbox. */

import type { Files } from "agent-sandbox-web";
import { version } from "../editor/open-document.js";
import { folderProblem } from "../files/folder-problem.js";
import { baseName, nameProblem, parentOf, plainName, resolvePath } from "../names.js";
import { confirm, prompt } from "../sandbox-dialog.js";
import { fromFile, type NotebookContent, toFile } from "./file.js";
import type { NotebookFile } from "./store.js";

/**
 * Reads a notebook.
 * @throws {ExplainedError} when the file holds none
 */
export async function readNotebook(files: Files, path: string): Promise<{ content: NotebookContent; file: NotebookFile }> {
  const info = await files.getInfo(path);
  return { content: fromFile(await files.read(path)), file: { path, version: version(info) } };
}

/**
 * Writes a notebook to its file, after asking where, or whether something else may be replaced.
 * @param file the file that it is of; asked for when there is none yet
 * @returns the file as it is now; `undefined` when the person does not want to
 */
export async function saveNotebook(
  files: Files,
  file: NotebookFile | undefined,
  content: NotebookContent,
): Promise<NotebookFile | undefined> {
  const path = file?.path ?? (await askWhere(files));
  if (path === undefined) return undefined;
  const there = (await files.list(parentOf(path))).find((entry) => entry.name === baseName(path));
  const known = file !== undefined && there !== undefined && version(there) === file.version;
  if (there && !known) {
    const agreed = await confirm({
      title: `Replace ${plainName(baseName(path))}?`,
      text: file ? "The file has changed in the sandbox since it was read." : "A file of this name is there already.",
      detail: plainName(path),
      action: "Replace",
      danger: true,
    });
    if (!agreed) return undefined;
  }
  await files.write(path, toFile(content));
  return { path, version: version(await files.getInfo(path)) };
}

async function askWhere(files: Files): Promise<string | undefined> {
  const home = (await files.getInfo(".")).path;
  const path = await prompt({
    title: "Save the notebook in the sandbox",
    action: "Save",
    input: {
      label: `Path of the file, from ${plainName(home)}`,
      value: "notebook.ipynb",
      selectStem: true,
      problem: (text) => nameProblem(baseName(text)) ?? (text.endsWith(".ipynb") ? undefined : "Its name ends in .ipynb."),
      settle: (text) => folderProblem(files, parentOf(resolvePath(home, text))),
    },
  });
  return path === undefined ? undefined : resolvePath(home, path);
}
