import { config } from "zod";

/** Whoever looks at one file once gains nothing from checks that are compiled first; they would cost more than all else. */
config({ jitless: true });
