// Parcel, without any configuration.
import { join } from "node:path";
import { test } from "vitest";
import { printed } from "../support/programs.ts";
import { appProject, expectFolderToShow, IN_PAGE_AND_WORKER, toolProgram } from "./building.ts";

test("a built app streams in its page and its worker", async () => {
  const { folder } = await appProject("plain");
  await printed(toolProgram("parcel"), ["build", "index.html", "--no-cache"], folder);
  await expectFolderToShow(join(folder, "dist"), IN_PAGE_AND_WORKER);
});
