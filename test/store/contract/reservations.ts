import { describe, expect, test } from "vitest";
import { bucketOf } from "../../../src/core/money/budget-day.ts";
import type { ScopeBudget } from "../../../src/core/money/budget-schema.ts";
import {
  type Amounts,
  type BudgetScope,
  limitStandings,
  NO_AMOUNTS,
  type ScopeLimits,
} from "../../../src/core/money/budget-scopes.ts";
import type { Lease, Store } from "../../../src/core/ports/store.ts";
import { example } from "../../support/event-examples.ts";
import { manualClock, MINUTE, NOON, sampleOwner } from "../samples.ts";
import { spender, tokens, uniqueId } from "./spending.ts";
import type { Create } from "./under-test.ts";

const only = (scope: BudgetScope, limits: ScopeBudget): ScopeLimits[] => [
  {
    scope,
    limits,
    ...(scope === "day" && { day: { date: "2026-01-01", fromBucket: bucketOf(NOON - 12 * 60 * MINUTE) } }),
  },
];

async function reserve(
  store: Store,
  { sessionId, fence }: Lease,
  {
    scopes,
    id = uniqueId(),
    agreed = [],
    ...amounts
  }: Partial<Amounts> & { scopes: ScopeLimits[]; id?: string; agreed?: string[] },
) {
  return store.ledger.reserve({ id, sessionId, fence, amounts: { ...NO_AMOUNTS, ...amounts }, scopes, agreed });
}

export function reservationTests(create: Create): void {
  describe("reservations", () => {
    test("hold what they may cost until the request is settled, which replaces them by what it did cost", async () => {
      await using fresh = await create(manualClock());
      const session = await spender(fresh.store, "sesn_1");
      const scopes = only("session", { usd: 10 });
      expect(await reserve(fresh.store, session.lease, { scopes, id: "sevt_start", usd: 6 })).toEqual({
        kind: "granted",
        warnings: [],
      });
      expect(await reserve(fresh.store, session.lease, { scopes, usd: 6 })).toEqual({
        kind: "refused",
        hit: { scope: "session", which: "usd", limit: 10, spent: 0, reserved: 6, needed: 6 },
      });
      await session.end({ model_request_start_id: "sevt_start", usd: 1 });
      expect(await reserve(fresh.store, session.lease, { scopes, usd: 6 })).toMatchObject({ kind: "granted" });
      expect(await reserve(fresh.store, session.lease, { scopes, usd: 6 })).toMatchObject({
        hit: { spent: 1, reserved: 6 },
      });
    });

    test("and spend are told of a project's scopes as a request would find them", async () => {
      await using fresh = await create(manualClock());
      const clerk = await spender(fresh.store, "sesn_1", { project: "one", agent: "clerk" });
      const other = await spender(fresh.store, "sesn_2", { project: "one", agent: "reviewer" });
      await clerk.end({ usd: 3, model_usage: tokens(1, 2) });
      await clerk.end({ usd: 100, billing: "rehearsal" });
      await other.end({ usd: 4, processed_at: new Date(NOON - 24 * 60 * MINUTE).toISOString() });
      const [day] = only("day", { usd: 10 });
      const scopes: ScopeLimits[] = [
        { scope: "agent", agent: "clerk", limits: { usd: 10 } },
        { scope: "agent", agent: "nobody", limits: { usd: 10 } },
        ...only("project", { usd: 10, tokens: 50 }),
        ...(day === undefined ? [] : [day]),
      ];
      await reserve(fresh.store, clerk.lease, { scopes: [...only("project", { usd: 10 })], usd: 2 });
      const told = async (project: string) =>
        (await fresh.store.ledger.standings(project, scopes)).map((one) => limitStandings(one)[0]);
      const usd = { which: "usd", limit: 10 };
      expect(await told("one")).toEqual([
        { ...usd, spent: 3, reserved: 2, left: 5 },
        { ...usd, spent: 0, reserved: 0, left: 10 },
        { ...usd, spent: 7, reserved: 2, left: 1 },
        { ...usd, spent: 3, reserved: 2, left: 5 },
      ]);
      expect((await told("two")).map((one) => one?.left)).toEqual([10, 10, 10, 10]);
      // What is left is just what the next request may cost.
      const project = only("project", { usd: 10 });
      expect(await reserve(fresh.store, other.lease, { scopes: project, usd: 1.01 })).toMatchObject({
        kind: "refused",
      });
      expect(await reserve(fresh.store, other.lease, { scopes: project, usd: 1 })).toMatchObject({ kind: "granted" });
    });

    test("are given back when the request is not sent", async () => {
      await using fresh = await create(manualClock());
      const session = await spender(fresh.store, "sesn_1");
      const scopes = only("session", { tokens: 10 });
      await reserve(fresh.store, session.lease, { scopes, id: "sevt_start", input: 10 });
      await fresh.store.ledger.release("sevt_start");
      expect(await reserve(fresh.store, session.lease, { scopes, output: 10 })).toMatchObject({ kind: "granted" });
    });

    test.each<[BudgetScope, shares: Record<"same" | "agent" | "project", boolean>]>([
      ["session", { same: false, agent: false, project: false }],
      ["agent", { same: true, agent: false, project: false }],
      ["project", { same: true, agent: true, project: false }],
      ["day", { same: true, agent: true, project: false }],
    ])("and spend of a scope (%s) are shared by the sessions in it, and by no other", async (scope, shares) => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const first = await spender(fresh.store, "sesn_1", { project: "one", agent: "clerk" });
      await first.end({ usd: 3 });
      const scopes = only(scope, { usd: 10 });
      await reserve(fresh.store, first.lease, { scopes, usd: 4 });
      const others = {
        same: await spender(other, "sesn_2", { project: "one", agent: "clerk", host: "host_b" }),
        agent: await spender(other, "sesn_3", { project: "one", agent: "reviewer", host: "host_b" }),
        project: await spender(other, "sesn_4", { project: "two", agent: "clerk", host: "host_b" }),
      };
      for (const [who, session] of Object.entries(others)) {
        const verdict = await reserve(other, session.lease, { scopes, usd: 5 });
        expect(verdict.kind, who).toBe(shares[who as keyof typeof shares] ? "refused" : "granted");
        if (verdict.kind === "refused") expect(verdict.hit).toMatchObject({ scope, spent: 3, reserved: 4, needed: 5 });
      }
    });

    test("of yesterday are no part of today", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const session = await spender(fresh.store, "sesn_1");
      await session.end({ usd: 9, processed_at: new Date(NOON - 13 * 60 * MINUTE).toISOString() });
      await session.end({ usd: 2 });
      const scopes = only("day", { usd: 10 });
      expect(await reserve(fresh.store, session.lease, { scopes, usd: 8 })).toMatchObject({ kind: "granted" });
      expect(await reserve(fresh.store, session.lease, { scopes, usd: 1 })).toMatchObject({
        hit: { spent: 2, reserved: 8 },
      });
    });

    test("of a host whose lease has run out, or was taken by another, do not count", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const dead = await spender(fresh.store, "sesn_1", { host: "host_dead" });
      const scopes = only("project", { usd: 10 });
      await reserve(fresh.store, dead.lease, { scopes, usd: 8 });
      const alive = await spender(fresh.store, "sesn_2", { host: "host_b" });
      expect(await reserve(fresh.store, alive.lease, { scopes, usd: 5 })).toMatchObject({ hit: { reserved: 8 } });

      clock.advance(2 * MINUTE);
      const lease = await fresh.store.leases.acquire("sesn_2", sampleOwner("host_b"), MINUTE);
      expect(await reserve(fresh.store, lease, { scopes, usd: 5 })).toMatchObject({ kind: "granted" });
      await fresh.store.leases.acquire("sesn_1", sampleOwner("host_c"), MINUTE);
      expect(await reserve(fresh.store, lease, { scopes, usd: 5 })).toMatchObject({ kind: "granted" });
      await expect(reserve(fresh.store, dead.lease, { scopes, usd: 1 })).rejects.toMatchObject({ code: "lease_lost" });
    });

    test("leave rehearsals out of what others share, and in what the session may do", async () => {
      await using fresh = await create(manualClock());
      const session = await spender(fresh.store, "sesn_1");
      await session.end({ usd: 5, billing: "rehearsal" });
      await session.end({ usd: 1, billing: "included" });
      const usd = 0.5;
      expect(await reserve(fresh.store, session.lease, { usd, scopes: only("project", { usd: 1 }) })).toMatchObject({
        hit: { spent: 1 },
      });
      expect(await reserve(fresh.store, session.lease, { usd, scopes: only("session", { usd: 6 }) })).toMatchObject({
        hit: { spent: 6 },
      });
    });

    test("count tokens of each sort, turns and tool calls", async () => {
      await using fresh = await create(manualClock());
      const session = await spender(fresh.store, "sesn_1");
      await session.end({ model_usage: tokens(10, 20, 30, 40) });
      const judged = (limits: ScopeBudget) => reserve(fresh.store, session.lease, { scopes: only("project", limits) });
      expect(await judged({ tokens: 100 })).toMatchObject({ hit: { which: "tokens", spent: 100 } });
      expect(await judged({ input_tokens: 10 })).toMatchObject({ hit: { which: "input_tokens", spent: 10 } });
      expect(await judged({ output_tokens: 20 })).toMatchObject({ hit: { which: "output_tokens", spent: 20 } });
      expect(await judged({ cache_tokens: 70 })).toMatchObject({ hit: { which: "cache_tokens", spent: 70 } });
      expect(await judged({ turns: 1 })).toMatchObject({ kind: "granted" });
      for (let turn = 0; turn < 2; turn += 1)
        await session.append(example("session.status_running"), example("session.status_idle"));
      expect(await judged({ turns: 1 })).toMatchObject({ hit: { which: "turns", limit: 1 } });

      const calls = only("project", { tool_calls: 1 });
      expect(await fresh.store.ledger.limitOnToolCall("sesn_1", calls)).toBeUndefined();
      await session.append(
        example("capstan.permission_decided", { decision: "deny" }),
        example("capstan.permission_decided", { decision: "allow" }),
      );
      expect(await fresh.store.ledger.limitOnToolCall("sesn_1", calls)).toMatchObject({
        which: "tool_calls",
        spent: 1,
      });
    });

    test("of handles that race never hold more than the limit together", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const sessions = await Promise.all(
        [0, 1, 2, 3].map(async (index) => {
          const store = index % 2 === 0 ? fresh.store : other;
          return { store, ...(await spender(store, `sesn_${index}`, { host: `host_${index}` })) };
        }),
      );
      const scopes = only("project", { usd: 10 });
      const rounds = Array.from({ length: 10 }, () => sessions).flat();
      const verdicts = await Promise.all(
        rounds.map((session) => reserve(session.store, session.lease, { scopes, usd: 1 })),
      );
      expect(verdicts.filter((verdict) => verdict.kind === "granted")).toHaveLength(10);
    });

    test("of a session that is not there are refused", async () => {
      await using fresh = await create(manualClock());
      const lease = { sessionId: "sesn_9", hostId: "host_a", fence: 1 };
      await expect(reserve(fresh.store, lease, { scopes: [] })).rejects.toMatchObject({ code: "not_found" });
    });
  });
}
