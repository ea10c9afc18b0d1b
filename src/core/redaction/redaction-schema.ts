import { z } from "zod";
import { PatternError, safePattern } from "./safe-pattern.ts";

/** Patterns of secrets in the user's settings. */
export const redactionSettings = z.array(
  z.strictObject({
    name: z.string().regex(/^[\w.-]{1,40}$/, "a name of letters, digits, _, . and -, at most 40"),
    pattern: z.string().check((context) => {
      try {
        safePattern(context.value);
      } catch (thrown) {
        if (!(thrown instanceof PatternError)) throw thrown;
        context.issues.push({ code: "custom", message: thrown.message, input: context.value });
      }
    }),
  }),
);

export type RedactionSettings = z.infer<typeof redactionSettings>;
