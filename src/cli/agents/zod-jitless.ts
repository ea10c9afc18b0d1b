import { config } from "zod";

/** Turns off zod's compiler: a command that parses one file would spend most of its time there. */
config({ jitless: true });
