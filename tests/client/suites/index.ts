import type { Suite } from "../support/suite.ts";
import { answers } from "./answers.ts";
import { cellResults } from "./cell-results.ts";
import { cells } from "./cells.ts";
import { commands } from "./commands.ts";
import { connection } from "./connection.ts";
import { contexts } from "./contexts.ts";
import { control } from "./control.ts";
import { controlRefusals } from "./control-refusals.ts";
import { downloads } from "./downloads.ts";
import { errors } from "./errors.ts";
import { files } from "./files.ts";
import { givenUp } from "./given-up.ts";
import { interpreter } from "./interpreter.ts";
import { lifecycle } from "./lifecycle.ts";
import { misuse } from "./misuse.ts";
import { options } from "./options.ts";
import { page } from "./page.ts";
import { reattach } from "./reattach.ts";
import { states } from "./states.ts";
import { streams } from "./streams.ts";
import { terminal } from "./terminal.ts";
import { time } from "./time.ts";
import { uploads } from "./uploads.ts";
import { watch } from "./watch.ts";
import { writes } from "./writes.ts";

/** Every suite, in the order in which failures are easiest to read. */
export const suites: Suite[] = [
  streams,
  commands,
  errors,
  answers,
  options,
  control,
  controlRefusals,
  connection,
  time,
  givenUp,
  misuse,
  page,
  terminal,
  reattach,
  files,
  writes,
  uploads,
  downloads,
  cells,
  cellResults,
  contexts,
  interpreter,
  watch,
  lifecycle,
  states,
];
