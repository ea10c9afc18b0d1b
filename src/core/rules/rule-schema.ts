import { z } from "zod";
import { readRule } from "./rule.ts";

/** A rule as the user wrote it. Parsed once, where it is needed. */
export const ruleText = z.string().superRefine((text, context) => {
  const read = readRule(text);
  if (typeof read === "string") context.addIssue({ code: "custom", message: read });
});
