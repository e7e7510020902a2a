import type { Suite } from "../support/suite.ts";
import { cells } from "./cells.ts";
import { errors } from "./errors.ts";
import { files } from "./files.ts";
import { interpreter } from "./interpreter.ts";
import { lifecycle } from "./lifecycle.ts";
import { page } from "./page.ts";
import { streams } from "./streams.ts";
import { terminal } from "./terminal.ts";
import { time } from "./time.ts";
import { watch } from "./watch.ts";

/** Every suite, in the order in which failures are easiest to read. */
export const suites: Suite[] = [streams, errors, time, page, terminal, files, cells, interpreter, watch, lifecycle];
