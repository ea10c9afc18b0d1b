import { z } from "zod";
import { messageContent } from "../events/content.ts";
import { toolInput } from "../events/fields.ts";
import { hookName, hookTimeout, onHookFailure } from "./hooks-schema.ts";
import { ruleText } from "../rules/rule-schema.ts";

/** What a program's hooks are given as, and what any hook may answer. Apart: whoever only reads an agent needs neither. */

/** What a program says of a function beside the function itself. */
export const hookOptions = z.strictObject({
  run: z.custom<(facts: never) => unknown>((value) => typeof value === "function", "expected a function"),
  name: hookName.optional(),
  matcher: ruleText.optional(),
  timeoutMs: hookTimeout.optional(),
  onFailure: onHookFailure.optional(),
});

const denial = z.strictObject({ deny: z.string() });
const nothing = z.strictObject({});

/** Strict: an answer that says more than it may, such as that a call is allowed, is no answer. */
export const promptAnswer = z.union([
  nothing,
  denial,
  z.strictObject({ text: z.string() }),
  z.strictObject({ add: z.string() }),
  z.strictObject({ content: messageContent }),
]);
export const toolAnswer = z.union([nothing, denial, z.strictObject({ input: toolInput })]);
