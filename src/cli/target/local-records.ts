import { setTimeout as sleep } from "node:timers/promises";
import type { Approval } from "../../core/session/approval.ts";
import { CapstanError } from "../../core/errors.ts";
import type { LoggedEvent } from "../../core/events/events.ts";
import type { Store } from "../../core/ports/store.ts";
import { toLoggedEvent } from "../../runtime/log/feed.ts";
import { isOpen } from "../terminal/short-id.ts";
import { userStore } from "./home.ts";
import type { Answered, ReadRange, Records } from "./records.ts";

const POLL_MS = 300;

/** Reads this user's store; needs no host and no credential. Modules that only one command needs are imported lazily. */
export async function localRecords(): Promise<Records> {
  const store = await userStore();
  const read = async (sessionId: string, { types, ...range }: ReadRange = {}): Promise<readonly LoggedEvent[]> =>
    (await store.events(sessionId, range))
      .map(toLoggedEvent)
      .filter(({ type }) => types === undefined || types.includes(type));
  return {
    sessions: (query) => store.sessions(query),
    session: (sessionId) => store.session(sessionId),
    read,
    async *follow(sessionId, { after, signal }) {
      for (let last = after; !signal.aborted;) {
        for (const event of await read(sessionId, { after: last })) {
          last = event.seq;
          yield event;
        }
        await sleep(POLL_MS, undefined, { signal }).catch(() => {});
      }
    },
    async *archive(sessionId) {
      const { exportSession } = await import("../../runtime/files/export-session.ts");
      yield* exportSession(store, sessionId);
    },
    async output(sessionId, call) {
      const { readOutput } = await import("../../runtime/outputs/read-output.ts");
      return readOutput(store, sessionId, call);
    },
    approvals: (query) => store.approvals.list(query),
    async awaitApprovals(query, { until, signal }) {
      for (;;) {
        const open = (await store.approvals.list({ ...query, status: "pending" })).filter(isOpen);
        if (open.length > 0 || signal.aborted || Date.now() >= until) return open;
        await sleep(Math.min(POLL_MS, until - Date.now()), undefined, { signal }).catch(() => {});
      }
    },
    answer: (approvalId, answer, by) => answerHere(store, { approvalId, answer, by }),
    grants: () => store.approvals.grants(),
    async revoke(grantId) {
      await store.approvals.revoke(grantId);
    },
    async readSpending(query) {
      const timeZone = query.timeZone ?? (query.by === "day" ? await zoneOfSettings() : "UTC");
      return { lines: await store.ledger.lines({ ...query, timeZone }), timeZone };
    },
    async replay(request) {
      const { requireKnownTools } = await import("../../app/check/tool-traits.ts");
      const { replayRules } = await import("../../runtime/policy/policy-replay.ts");
      return replayRules({ sessions: (query) => store.sessions(query), read }, { requireKnownTools }, request);
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

async function answerHere(
  store: Store,
  { approvalId, answer, by }: { approvalId: string; answer: Parameters<Records["answer"]>[1]; by: string | undefined },
): Promise<Answered> {
  const { clock, ids } = await import("../../app/clock.ts");
  const { Inbox } = await import("../../runtime/approvals/inbox.ts");
  const { userName } = await import("../terminal/user-name.ts");
  const inbox = new Inbox({ store, clock, ids, onAnswer: async () => {} });
  const approval = await inbox.answer(approvalId, answer, { by: by ?? userName(), from: "cli" });
  const record = await store.session(approval.sessionId);
  if (record === undefined)
    throw new CapstanError("not_found", `The session of approval ${approvalId} no longer exists.`);
  const pid = await driverOf(store, approval);
  return { approval, record, driver: pid === undefined ? undefined : `pid ${pid}` };
}

/** How often to check a driver that has not acted on an answer yet. */
const MAX_CHECKS = 10;

/**
 * The process that acts on an answer. A process that is closing the session may have missed it, so this waits until it
 * has acted, waits for other answers, or has ended.
 */
async function driverOf(store: Store, { id, sessionId }: Approval): Promise<number | undefined> {
  const { isGone } = await import("../../app/host/processes.ts");
  for (let checks = 1; ; checks += 1) {
    const holder = await store.leases.holder(sessionId);
    if (holder === undefined || isGone(holder)) return undefined;
    const isActedOn = (await store.approvals.get(id))?.status === "settled";
    const others = await store.approvals.list({ sessionId, status: "pending" });
    if (isActedOn || others.length > 0 || checks === MAX_CHECKS) return holder.pid;
    await sleep(POLL_MS);
  }
}

async function zoneOfSettings(): Promise<string> {
  const { loadConfiguration } = await import("../../config/load.ts");
  const { settings } = await loadConfiguration({ cwd: process.cwd(), environment: process.env, flags: {} });
  return settings.budgets.day?.time_zone ?? "UTC";
}
