import { randomBytes } from "node:crypto";
import { type AgentInput, parseAgent } from "../src/index.ts";
import { parseEnvironment } from "../src/core/environment/environment.ts";
import type { Clock, Ids } from "../src/core/ports/clock.ts";
import type { EventDraft } from "../src/core/events/events.ts";
import { type Lease, PLAIN_SESSION, type Store } from "../src/core/ports/store.ts";
import { createRedactor } from "../src/core/redaction/redaction.ts";
import { Feed } from "../src/runtime/log/feed.ts";
import { SessionLog } from "../src/runtime/log/session-log.ts";
import { openStore } from "../src/app/open-store.ts";

export const clock: Clock = { now: () => Date.now() };
export const ids: Ids = { next: (kind) => `${kind}_${randomBytes(16).toString("hex")}` };

const redactor = createRedactor();

const MODEL = "claude-opus-4-8";
/** Turns after the compaction: all that the model sees beside the summary. */
const RECENT_TURNS = 3;
const BATCH = 1_000;
/** Longer than any case takes. */
const LEASE_MS = 600_000;

/** Opens the store of the host that lives in `home`. */
export function openStoreIn(home: string): Promise<Store> {
  return openStore(home, {});
}

/** A new session, and the lease to write its log. */
export async function newSession(
  store: Store,
  { agent, cwd }: { readonly agent: AgentInput; readonly cwd: string },
): Promise<Lease> {
  const id = ids.next("sesn");
  await store.createSession({
    id,
    createdAt: clock.now(),
    agent: parseAgent(agent),
    environment: parseEnvironment({}),
    cwd,
    source: cwd,
    title: null,
    project: "default",
    ...PLAIN_SESSION,
    forkedFrom: null,
  });
  const owner = { hostId: ids.next("host"), pid: process.pid, hostname: "bench" };
  return store.leases.acquire(id, owner, LEASE_MS);
}

export function logOf(store: Store, lease: Lease): Promise<SessionLog> {
  return SessionLog.open({ store, sessionId: lease.sessionId, lease, feed: new Feed(), clock, ids, redactor });
}

/**
 * Stores a session that has `length` events behind it, written the way a host writes them, snapshots included. It was
 * compacted a few turns ago, so that the model sees the same whatever the length; returns its id.
 */
export async function pastSession(
  store: Store,
  { length, ...session }: { readonly length: number; readonly agent: AgentInput; readonly cwd: string },
): Promise<string> {
  const lease = await newSession(store, session);
  const log = await logOf(store, lease);
  const recent = Array.from({ length: RECENT_TURNS }, (_, turn) => pastTurn(turn)).flat();
  const old = length - recent.length - 1;
  const drafts: EventDraft[] = [];
  for (let turn = 0; drafts.length < old; turn += 1) drafts.push(...pastTurn(turn));
  // The oldest turn may lose its beginning, never its end.
  drafts.splice(0, drafts.length - old);
  drafts.push(
    {
      type: "agent.thread_context_compacted",
      trigger: "auto",
      tokens_before: 150_000,
      tokens_after: 2_000,
      summary: "The user asked for a number of small things, and all of them were done.",
      kept: { event_ids: [], message_ids: [], from_seq: Number.MAX_SAFE_INTEGER },
    },
    ...recent,
  );
  for (let at = 0; at < drafts.length; at += BATCH) await log.append(drafts.slice(at, at + BATCH));
  await store.leases.release(lease);
  return lease.sessionId;
}

/** The events of one ordinary turn. */
export function pastTurn(turn: number): EventDraft[] {
  const message = ids.next("sevt");
  const request = ids.next("sevt");
  const usage = { input_tokens: 2_000, output_tokens: 40, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const span = { attributed: true, model: MODEL, request_class: "main" };
  return [
    { type: "user.message", id: message, content: [{ type: "text", text: `Please do thing number ${turn}.` }] },
    { type: "session.status_running" },
    { type: "capstan.input_delivered", event_ids: [message] },
    { type: "span.model_request_start", id: request, ...span },
    {
      type: "span.model_request_end",
      ...span,
      model_request_start_id: request,
      is_error: false,
      model_usage: usage,
      usd: 0.011,
      http_status: 200,
      stop_reason: "end_turn",
      estimated: false,
    },
    {
      type: "agent.message",
      message_id: `msg_${message}`,
      content: [{ type: "text", text: `Thing number ${turn} is done, just as you asked.` }],
    },
    {
      type: "session.usage",
      usage: {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0 },
        list_cost: { amount: "1", currency: "USD" },
        usd: 0.011,
        engine: { [MODEL]: { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens, usd: 0.011 } },
      },
    },
    { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null },
  ];
}
