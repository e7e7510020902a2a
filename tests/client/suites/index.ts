import type { Suite } from "../support/suite.ts";
import { cells } from "./cells.ts";
import { commands } from "./commands.ts";
import { control } from "./control.ts";
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
import { transfers } from "./transfers.ts";
import { watch } from "./watch.ts";

/** Every suite, in the order in which failures are easiest to read. */
export const suites: Suite[] = [
  streams,
  commands,
  errors,
  options,
  control,
  time,
  givenUp,
  misuse,
  page,
  terminal,
  reattach,
  files,
  transfers,
  cells,
  interpreter,
  watch,
  lifecycle,
  states,
];
