import { z } from "zod";
import { ruleText } from "../rules/rule-schema.ts";

/** How users write hooks. See hooks.ts for their purpose, and hook-answers.ts for their answers. */

/** The longest possible timer, about 24 days. */
const MAX_TIMER_MS = 2_147_483_647;

/** Written to the log as is and never redacted, so it must not contain a command or its arguments. */
export const hookName = z.string().regex(/^\w[\w .-]{0,63}$/, "a name of letters, digits, spaces, dots and dashes");
export const hookTimeout = z.number().int().positive().max(MAX_TIMER_MS);
export const onHookFailure = z.enum(["deny", "continue"]);

const common = {
  name: hookName.optional(),
  /** The words of a command, or one line for `sh -c`. */
  command: z.union([z.string().trim().min(1), z.array(z.string()).nonempty()]),
  /** Milliseconds (default: one minute). */
  timeout_ms: hookTimeout.optional(),
};
/** Only hooks that run beforehand have `on_failure`: afterwards, there is nothing to deny. */
const before = { ...common, on_failure: onHookFailure.optional() };
/** Which calls the hook sees (default: all). Matched as broadly as a deny rule: in doubt, the hook runs. */
const matched = { matcher: ruleText.optional() };

/** The hooks of an agent file: commands, in the order they run. */
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
