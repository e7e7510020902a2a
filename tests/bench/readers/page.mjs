// The entry of the page that measures in Chromium.

import * as ours from "./agent-sandbox-web.mjs";
import * as e2b from "./e2b.mjs";
import { measure } from "./measure.mjs";

globalThis.measureIn = async (reader, command, settings) => {
  const { open } = { "agent-sandbox-web": ours, e2b }[reader];
  return measure(await open(settings), command, undefined);
};

globalThis.ready = true;
