import { z } from "zod";
import { messageContent } from "../events/content.ts";
import { toolInput } from "../events/fields.ts";
import { hookName, hookTimeout, onHookFailure } from "./hooks-schema.ts";
import { ruleText } from "../rules/rule-schema.ts";

/** How a program passes hooks, and what hooks may answer. Separate, because reading an agent needs neither. */

/** The options next to a hook function. */
export const hookOptions = z.strictObject({
  run: z.custom<(facts: never) => unknown>((value) => typeof value === "function", "expected a function"),
  name: hookName.optional(),
  matcher: ruleText.optional(),
  timeoutMs: hookTimeout.optional(),
  onFailure: onHookFailure.optional(),
});

const denial = z.strictObject({ deny: z.string() });
const nothing = z.strictObject({});

/** Strict: an answer with anything else in it, such as allowing a call, is invalid. */
export const promptAnswer = z.union([
  nothing,
  denial,
  z.strictObject({ text: z.string() }),
  z.strictObject({ add: z.string() }),
  z.strictObject({ content: messageContent }),
]);
export const toolAnswer = z.union([nothing, denial, z.strictObject({ input: toolInput })]);
