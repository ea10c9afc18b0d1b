import type { z } from "zod";
import type { Clock } from "../../core/ports/clock.ts";
import { messageOf } from "../../core/errors.ts";
import type { EventDraft, EventOf } from "../../core/events/events.ts";
import type { AskHook, Hook } from "./hooks-list.ts";

/** In characters. */
const MAX_MESSAGE = 2_000;

/** The result of one hook run. */
export interface HookRun<Answer> {
  readonly answer: Answer | undefined;
  /** Why there is no usable answer. */
  readonly failure: string | undefined;
  readonly durationMs: number;
}

interface RunOptions<Answer> {
  readonly ask: AskHook;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The answers it may give. Default: the answer is ignored. */
  readonly schema?: z.ZodType<Answer>;
}

/**
 * Runs a hook once and returns in time, whatever the hook does. An answer that does not match `schema`, a timeout, an
 * exception and an interruption all count as failures.
 */
export async function runHook<Answer extends object>(
  hook: Hook,
  facts: object,
  { ask, signal, clock, schema }: RunOptions<Answer>,
): Promise<HookRun<Answer>> {
  const startedAt = clock.now();
  const end = (answer: Answer | undefined, failure?: string): HookRun<Answer> => ({
    answer,
    failure,
    durationMs: Math.max(0, clock.now() - startedAt),
  });
  const stop = new AbortController();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const halt = (why: string): void => {
    const reason = new Error(why);
    // Reject first, so that the reason is reported instead of the hook's reaction to the abort.
    reject(reason);
    stop.abort(reason);
  };
  const onAbort = (): void => halt("The hook was stopped because the turn was.");
  const timer = setTimeout(() => halt(`The hook took longer than ${hook.timeoutMs} ms.`), hook.timeoutMs);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal.aborted) onAbort();
    // Pass a copy, so that a hook cannot change the facts for others.
    const asked = stop.signal.aborted ? stopped : ask(hook, structuredClone(facts), stop.signal);
    const said: unknown = await Promise.race([stopped, asked]);
    return end(schema === undefined || said === undefined ? undefined : read(said, schema));
  } catch (thrown) {
    return end(undefined, messageOf(thrown));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Parses the answer as plain data, which the engine and the log require. */
function read<Answer>(said: unknown, schema: z.ZodType<Answer>): Answer {
  // Errors and maps would become empty objects in JSON, which would mean "continue".
  const isPlain = typeof said === "object" && said !== null && Object.getPrototypeOf(said) === Object.prototype;
  if (isPlain && schema.safeParse(said).success) {
    const parsed = schema.safeParse(JSON.parse(JSON.stringify(said)));
    if (parsed.success) return parsed.data;
  }
  throw new Error("The hook returned an invalid answer.");
}

/** The event that records a hook run. */
export function hookRanEvent(
  { kind, name }: Hook,
  { outcome, durationMs, message }: JudgedRun,
  call?: { readonly callId: string; readonly threadId: string | null },
): EventDraft<"capstan.hook_ran"> {
  return {
    type: "capstan.hook_ran",
    ...(call !== undefined && call.threadId !== null && { session_thread_id: call.threadId }),
    hook: kind,
    name,
    ...(call !== undefined && { call_id: call.callId }),
    outcome,
    duration_ms: durationMs,
    ...(message !== undefined && { message: short(message) }),
  };
}

function short(message: string): string {
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message;
}

/** The meaning of a hook run. */
export interface JudgedRun {
  readonly outcome: EventOf<"capstan.hook_ran">["outcome"];
  readonly durationMs: number;
  readonly message?: string;
  /** Why the action is denied; undefined if it may continue. */
  readonly denial?: string;
}

/** `problem` says what is wrong with the result of an otherwise valid answer. */
export function judgeRun(
  { name, onFailure }: Hook,
  { answer, failure, durationMs }: HookRun<object>,
  { isChange, problem }: { isChange: boolean; problem?: string | undefined },
): JudgedRun {
  if (answer !== undefined && "deny" in answer) {
    const said = typeof answer.deny === "string" ? answer.deny.trim() : "";
    const denial = said === "" ? `The hook ${name} denied this.` : said;
    return { outcome: "denied", durationMs, message: denial, denial };
  }
  const message = failure ?? problem;
  if (message === undefined) return { outcome: isChange ? "changed" : "passed", durationMs };
  // Only the log gets the details: the model need not learn about this machine.
  const denial = `The hook ${name} failed. This is denied because the hook is required.`;
  return { outcome: "failed", durationMs, message, ...(onFailure === "deny" && { denial }) };
}
