import { FileNotFoundError, type Files } from "agent-sandbox-web";
import { describeError } from "../describe-error.js";
import { plainName } from "../names.js";

/** Why nothing can go into a folder, as the sandbox sees it; `undefined` when it can. */
export async function folderProblem(files: Files, folder: string): Promise<string | undefined> {
  try {
    return (await files.getInfo(folder)).type === "directory" ? undefined : `${plainName(folder)} is a file, not a folder.`;
  } catch (error) {
    if (error instanceof FileNotFoundError) return `There is no folder ${plainName(folder)}.`;
    const { title, message } = describeError(error);
    return `${title}: ${message}`;
  }
}
