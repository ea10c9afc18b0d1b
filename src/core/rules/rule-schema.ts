import { z } from "zod";
import { readRule } from "./rule.ts";

/** A rule as a user writes it. Kept as it is; whoever needs it reads it once. */
export const ruleText = z.string().superRefine((text, context) => {
  const read = readRule(text);
  if (typeof read === "string") context.addIssue({ code: "custom", message: read });
});
