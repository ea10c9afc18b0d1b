import { z } from "zod";
import { messageContent } from "./content.ts";
import { toolInput } from "./events/fields.ts";
import { ruleText } from "./permission/rule-schema.ts";

/** How people write hooks, and what a hook may answer. What hooks are for is in hooks.ts. */

/** What a timer can wait, some 24 days. */
const MAX_TIMER_MS = 2_147_483_647;

/** It stands in the log as it is, and is never redacted: no place for a command or its arguments. */
const name = z.string().regex(/^\w[\w .-]{0,63}$/, "a name of letters, digits, spaces, dots and dashes");
const timeout = z.number().int().positive().max(MAX_TIMER_MS);
const onFailure = z.enum(["deny", "continue"]);

const common = {
  name: name.optional(),
  /** Words of a command, or one line for `sh -c`. */
  command: z.union([z.string().trim().min(1), z.array(z.string()).nonempty()]),
  /** Milliseconds. Default: a minute. */
  timeout_ms: timeout.optional(),
};
/** After the fact there is nothing to deny, so that only hooks before it say what becomes of their failure. */
const before = { ...common, on_failure: onFailure.optional() };
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

/** What a program says of a function beside the function itself. */
export const hookOptions = z.strictObject({
  run: z.custom<(facts: never) => unknown>((value) => typeof value === "function", "expected a function"),
  name: name.optional(),
  matcher: ruleText.optional(),
  timeoutMs: timeout.optional(),
  onFailure: onFailure.optional(),
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
