import type { z } from "zod";
import type { Clock } from "../../core/ports/clock.ts";
import { messageOf } from "../../core/errors.ts";
import type { EventDraft, EventOf } from "../../core/events/events.ts";
import type { AskHook, Hook } from "./hooks-list.ts";

/** In characters. A hook that has more to say can say it elsewhere. */
const MAX_MESSAGE = 2_000;

/** How one run of a hook went. */
export interface HookRun<Answer> {
  readonly answer: Answer | undefined;
  /** Why there is no answer to go by. */
  readonly failure: string | undefined;
  readonly durationMs: number;
}

interface RunOptions<Answer> {
  readonly ask: AskHook;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** What it may answer. Without it nobody looks at the answer. */
  readonly schema?: z.ZodType<Answer>;
}

/**
 * Runs a hook once, and comes back in time whatever the hook does. An answer that does not fit `schema` is a failure,
 * as are being late, throwing and being stopped.
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
    // First, so that the reason is told and not how the hook took it.
    reject(reason);
    stop.abort(reason);
  };
  const onAbort = (): void => halt("It was stopped, as the turn was.");
  const timer = setTimeout(() => halt(`It took longer than ${hook.timeoutMs} ms.`), hook.timeoutMs);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal.aborted) onAbort();
    // A copy: what a hook does to the facts must not change them for anybody else.
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

/** As plain data, which it must be for the engine and for the log. */
function read<Answer>(said: unknown, schema: z.ZodType<Answer>): Answer {
  // An error or a map would be an object without fields once it is JSON, and that means to go on.
  const isPlain = typeof said === "object" && said !== null && Object.getPrototypeOf(said) === Object.prototype;
  if (isPlain && schema.safeParse(said).success) {
    const parsed = schema.safeParse(JSON.parse(JSON.stringify(said)));
    if (parsed.success) return parsed.data;
  }
  throw new Error("It answered something that is no answer of such a hook.");
}

/** What the log says of a run. */
export function hookRan(
  { kind, name }: Hook,
  { outcome, durationMs, message }: Judged,
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

/** What a run means. */
export interface Judged {
  readonly outcome: EventOf<"capstan.hook_ran">["outcome"];
  readonly durationMs: number;
  readonly message?: string;
  /** Why what the hook looked at may not happen; undefined when it may go on. */
  readonly denial?: string;
}

/** `problem` is what is wrong with the result of an answer that itself is in order. */
export function judge(
  { name, onFailure }: Hook,
  { answer, failure, durationMs }: HookRun<object>,
  { isChange, problem }: { isChange: boolean; problem?: string | undefined },
): Judged {
  if (answer !== undefined && "deny" in answer) {
    const said = typeof answer.deny === "string" ? answer.deny.trim() : "";
    const denial = said === "" ? `The hook ${name} denied this.` : said;
    return { outcome: "denied", durationMs, message: denial, denial };
  }
  const message = failure ?? problem;
  if (message === undefined) return { outcome: isChange ? "changed" : "passed", durationMs };
  // How it failed is for the log alone: the model need not know what is on this machine.
  const denial = `The hook ${name} failed, and without it this is denied.`;
  return { outcome: "failed", durationMs, message, ...(onFailure === "deny" && { denial }) };
}
