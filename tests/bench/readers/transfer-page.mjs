// The entry of the page that measures transfers and calls in Chromium.
import { calls, keys, transfer } from "./transfer.mjs";

Object.assign(globalThis, { calls, keys, transfer, ready: true });
