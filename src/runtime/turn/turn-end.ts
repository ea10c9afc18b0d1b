import { z } from "zod";
import type { Budget } from "../../core/agent/agent-definition.ts";
import type { LimitHit } from "../../core/money/budget-schema.ts";
import { cacheHitRate } from "../../core/money/cache-hits.ts";
import type { TurnEnd } from "../../core/ports/engine.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { EventDraft, EventOf, ModelUsage } from "../../core/events/events.ts";
import { inTurn, type SessionState } from "../../core/session/state.ts";
import { tellTurnEnd } from "../../core/session/stop-reason.ts";
import type { ActiveTurn } from "./current-turn.ts";
import { checkOutput } from "./output.ts";
import { lateAnswers, lateResults } from "../calls/late-answers.ts";
import { type CutTurn, inspectCutTurn, settleOpenWork } from "../calls/settle-work.ts";
import type { SessionBasics, SessionHelpers, SessionOutput } from "../session-deps.ts";

export type EndDeps = SessionBasics & SessionHelpers & SessionOutput;

/** Writes the end of a turn, after what belongs before it. */
export async function writeTurnEnd(
  end: TurnEnd,
  turn: ActiveTurn | undefined,
  { log, output, record, store, clock, userHooks, checkpoints, configuration }: EndDeps,
): Promise<void> {
  const refused = turn?.refusal;
  const told: TurnEnd = refused === undefined ? end : { ...end, outcome: "failed", error: refused };
  await checkpoints.waitForCalls();
  // Inside the append: a message that is sent meanwhile must not find a turn that is neither under way nor over.
  const appended = log.append(async (state) => {
    const hooks = await userHooks.drainFacts();
    const checked = await checkOutput(told, output);
    // Before the checkpoint, which must contain disabled files under their new names.
    const warned = await configuration.atTurnEnd();
    const kept = await checkpoints.atTurnEnd(state);
    // As late as possible: until then people may answer.
    const late = await lateAnswers(store, Object.values(state.openCalls));
    const { events: results, closed } = await lateResults({ store, clock }, state);
    const { budget } = record.agent;
    return [
      ...hooks,
      ...late,
      ...results,
      ...kept,
      ...warned,
      ...turnEndEvents(state, { end: checked, budget, turn, closed }),
    ];
  });
  const stored = await appended.catch((thrown: unknown) => {
    checkpoints.forget();
    throw thrown;
  });
  configuration.markReported();
  userHooks.turnEnded(stored);
}

/** All events that end a turn. */
function turnEndEvents(
  state: SessionState,
  {
    end,
    budget,
    turn,
    closed,
  }: { end: TurnEnd; budget: Budget; turn: ActiveTurn | undefined; closed: readonly string[] },
): EventDraft[] {
  const open = settleOpenWork(state, closed);
  if (!inTurn(state)) return open;
  const limit = turn?.limit ?? limitOf(end, { budget, state });
  const { before, stopReason } = tellTurnEnd(end, { limit, retries: turn?.retries ?? 0 });
  const output = stopReason.type === "end_turn" && end.output !== undefined ? { output: end.output } : {};
  return [
    ...open,
    usageEvent(state, end.usage),
    ...before,
    { type: "session.status_idle", stop_reason: stopReason, stop_details: null, ...output },
  ];
}

const processLimit = z.object({
  which: z.enum(["memory_bytes", "processes", "cpu_seconds"]),
  limit: z.number(),
  spent: z.number(),
});

/** The limit at which the engine itself ended the turn. */
function limitOf(end: TurnEnd, { budget, state }: { budget: Budget; state: SessionState }): LimitHit | undefined {
  if (end.outcome === "steps") return { which: "steps", limit: budget.steps ?? 0, spent: budget.steps ?? 0 };
  if (end.outcome === "budget") return { which: "usd", limit: budget.usd ?? 0, spent: state.usd };
  // The session's processes used more than its environment allows.
  if (end.error?.code === "limit_reached") return processLimit.safeParse(end.error.data).data;
  return undefined;
}

/** What the session has spent so far as the gateway metered it, and what the engine counted for this turn. */
function usageEvent(
  { usage, usd, unpricedRequests }: SessionState,
  engine: TurnEnd["usage"],
): EventDraft<"session.usage"> {
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
  const hitRate = cacheHitRate({ input, read, written });
  return {
    type: "session.usage",
    usage: {
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      cache_read_input_tokens: usage.cache_read_input_tokens,
      cache_creation: cacheWrites(usage),
      ...(hitRate !== undefined && { cache_hit_rate: Number(hitRate.toFixed(4)) }),
      list_cost: { amount: String(Math.round(usd * 100)), currency: "USD" },
      usd,
      ...(unpricedRequests !== undefined && { unpriced_requests: unpricedRequests }),
      engine,
    },
  };
}

function cacheWrites(usage: ModelUsage): EventOf<"session.usage">["usage"]["cache_creation"] {
  const oneHour = usage.cache_creation_1h_input_tokens ?? 0;
  const fiveMinutes = { ephemeral_5m_input_tokens: usage.cache_creation_input_tokens - oneHour };
  return oneHour === 0 ? fiveMinutes : { ...fiveMinutes, ephemeral_1h_input_tokens: oneHour };
}

export const HOST_GONE = "The host that drove this session is gone.";

/** Gives everything open in an abandoned turn its outcome, and returns whether the model had finished its answer. */
export async function settleCutTurn(
  { log, store, clock }: Pick<SessionBasics, "log" | "store" | "clock">,
  reason: string,
): Promise<CutTurn["kind"]> {
  await log.append(async (state) => {
    const answers = await lateAnswers(store, Object.values(state.openCalls));
    const results = await lateResults({ store, clock }, state);
    return [processLostEvent(reason), ...answers, ...results.events, ...settleOpenWork(state, results.closed)];
  });
  const events = await log.events({ after: Math.max(0, log.state.historyFrom - 1) });
  const cut = inspectCutTurn(events.map(({ event }) => event));
  if (cut.kind === "unfinished" && cut.withdraw !== undefined)
    await log.append([{ type: "capstan.message_withdrawn", message_id: cut.withdraw }]);
  return cut.kind;
}

export function processLostEvent(reason: string, stderr = ""): EventDraft<"capstan.process_lost"> {
  return { type: "capstan.process_lost", reason, stderr };
}

export function failedEnd(thrown: unknown): TurnEnd {
  return { outcome: "failed", error: asError(thrown), usage: {} };
}

/** The end of a turn whose host has died. */
export function hostLost(): TurnEnd {
  const text = "The host that drove this session ended during the turn. Send a message to continue.";
  return { outcome: "failed", usage: {}, error: new CapstanError("engine_lost", text) };
}

export function asError(thrown: unknown): CapstanError {
  return thrown instanceof CapstanError
    ? thrown
    : new CapstanError("engine_failed", messageOf(thrown), { cause: thrown });
}
