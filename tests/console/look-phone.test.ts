import { PHONE } from "./console-page.ts";
import { looksSound } from "./look.ts";

looksSound("phone", PHONE);
