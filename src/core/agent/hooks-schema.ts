import { z } from "zod";
import { ruleText } from "../rules/rule-schema.ts";

/** How people write hooks. What hooks are for is in hooks.ts, what they may answer in hook-answers.ts. */

/** What a timer can wait, some 24 days. */
const MAX_TIMER_MS = 2_147_483_647;

/** It stands in the log as it is, and is never redacted: no place for a command or its arguments. */
export const hookName = z.string().regex(/^\w[\w .-]{0,63}$/, "a name of letters, digits, spaces, dots and dashes");
export const hookTimeout = z.number().int().positive().max(MAX_TIMER_MS);
export const onHookFailure = z.enum(["deny", "continue"]);

const common = {
  name: hookName.optional(),
  /** Words of a command, or one line for `sh -c`. */
  command: z.union([z.string().trim().min(1), z.array(z.string()).nonempty()]),
  /** Milliseconds. Default: a minute. */
  timeout_ms: hookTimeout.optional(),
};
/** After the fact there is nothing to deny, so that only hooks before it say what becomes of their failure. */
const before = { ...common, on_failure: onHookFailure.optional() };
/** Without it a hook sees every call. Read as widely as a deny rule: in doubt the hook runs. */
const matched = { matcher: ruleText.optional() };

/** The hooks of an agent file: commands, in the order in which they run. */
export const agentHooks = z.strictObject({
  before_prompt: z.array(z.strictObject(before)).optional(),
  before_tool: z.array(z.strictObject({ ...before, ...matched })).optional(),
  after_tool: z.array(z.strictObject({ ...common, ...matched })).optional(),
  on_turn_end: z.array(z.strictObject(common)).optional(),
  on_session_end: z.array(z.strictObject(common)).optional(),
});

export type AgentHooks = z.infer<typeof agentHooks>;
export type HookKind = keyof AgentHooks;
export type HookCommand = z.infer<(typeof common)["command"]>;
