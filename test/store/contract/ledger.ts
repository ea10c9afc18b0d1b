import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addLines,
  type Grouping,
  GROUPINGS,
  type LedgerLine,
  problemWithSplit,
  type Split,
  SPLITS,
} from "../../../src/core/money/ledger.ts";
import type { Store } from "../../../src/core/ports/store.ts";
import { manualClock, MINUTE, NOON } from "../samples.ts";
import { spender, tokens, uniqueId } from "./spending.ts";
import type { Create } from "./under-test.ts";

const keysOf = (lines: readonly LedgerLine[]) => lines.map(({ key, billing, usd }) => [key, billing, usd]);

/** The parts of every line add up to the line, whatever it is divided by. */
async function expectParts({ ledger }: Store): Promise<void> {
  for (const by of GROUPINGS)
    for (const split of SPLITS.filter((one) => problemWithSplit(by, one) === undefined)) {
      const parts = Map.groupBy(await ledger.lines({ by, split }), ({ key, billing }) => `${key} ${billing}`);
      const lines = await ledger.lines({ by });
      expect([...parts.keys()].toSorted()).toEqual(lines.map(({ key, billing }) => `${key} ${billing}`).toSorted());
      for (const { usd, ...line } of lines) {
        const { usd: sum, part: _part, ...added } = parts.get(`${line.key} ${line.billing}`)?.reduce(addLines) ?? {};
        expect(added, `by ${by}, split ${split}`).toEqual(line);
        expect(sum).toBeCloseTo(usd, 6);
      }
    }
}

export function ledgerTests(create: Create): void {
  describe("the ledger", () => {
    test("is empty at first", async () => {
      await using fresh = await create(manualClock());
      for (const by of GROUPINGS) expect(await fresh.store.ledger.lines({ by })).toEqual([]);
      expect(await fresh.store.ledger.recentOutputs("sesn_1", 10)).toEqual([]);
    });

    test("has a request once it is in the log, in every grouping, for every handle", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const session = await spender(fresh.store, "sesn_1", { project: "/srv/app", agent: "clerk" });
      await session.end({
        usd: 0.5,
        model: "claude-haiku-4-5",
        model_usage: { ...tokens(10, 20, 30, 40), web_search_requests: 2 },
        tools: ["Bash"],
        session_thread_id: "sthr_1",
        billing: "paid",
      });
      const figures = {
        billing: "paid",
        requests: 1,
        inputTokens: 10,
        outputTokens: 20,
        cacheReadTokens: 30,
        cacheWriteTokens: 40,
        webSearches: 2,
        usd: 0.5,
        unpricedRequests: 0,
        estimatedRequests: 0,
      };
      const keys: Record<Grouping, string> = {
        day: "2026-01-01",
        agent: "clerk",
        model: "claude-haiku-4-5",
        session: "sesn_1",
        project: "/srv/app",
        thread: "sthr_1",
        tool: "Bash",
      };
      for (const by of GROUPINGS) expect(await other.ledger.lines({ by })).toEqual([{ key: keys[by], ...figures }]);
    });

    test("says what the logs say, whatever is appended and however it is grouped", async () => {
      await using fresh = await create(manualClock());
      const sessions = [
        await spender(fresh.store, "sesn_a", { project: "one" }),
        await spender(fresh.store, "sesn_b", { project: "one", agent: "clerk" }),
        await spender(fresh.store, "sesn_c", { project: "two" }),
      ];
      const request = fc.record({
        who: fc.nat(2),
        usd: fc.option(fc.nat(100), { nil: null }),
        input: fc.nat(1_000),
        output: fc.nat(1_000),
        billing: fc.constantFrom("paid" as const, "included" as const, "rehearsal" as const, undefined),
        tools: fc.uniqueArray(fc.constantFrom("Bash", "Read", "Edit"), { maxLength: 3 }),
        thread: fc.constantFrom(null, "sthr_1", "UNATTRIBUTED"),
        minutes: fc.nat(5_000),
      });
      const all: { usd: number | null; input: number; output: number; billing: string }[] = [];
      await fc.assert(
        fc.asyncProperty(fc.array(request, { maxLength: 8 }), async (requests) => {
          for (const { who, usd, input, output, billing, tools, thread, minutes } of requests) {
            all.push({ usd, input, output, billing: billing ?? "paid" });
            await sessions[who]?.end({
              usd,
              model_usage: tokens(input, output),
              session_thread_id: thread,
              processed_at: new Date(NOON + minutes * 60_000).toISOString(),
              ...(billing !== undefined && { billing }),
              ...(tools.length > 0 && { tools }),
            });
          }
          await expectParts(fresh.store);
          for (const by of GROUPINGS)
            for (const billing of ["paid", "included", "rehearsal"] as const) {
              const lines = (await fresh.store.ledger.lines({ by })).filter((line) => line.billing === billing);
              const expected = all.filter((one) => one.billing === billing);
              if (expected.length === 0) expect(lines).toEqual([]);
              else
                expect(lines.reduce(addLines)).toMatchObject({
                  requests: expected.length,
                  inputTokens: expected.reduce((sum, one) => sum + one.input, 0),
                  outputTokens: expected.reduce((sum, one) => sum + one.output, 0),
                  unpricedRequests: expected.filter((one) => one.usd === null).length,
                });
              const usd = lines.reduce((sum, line) => sum + line.usd, 0);
              expect(usd).toBeCloseTo(
                expected.reduce((sum, one) => sum + (one.usd ?? 0), 0),
                6,
              );
            }
        }),
        { numRuns: 15 },
      );
    });

    test("divides lines once more, and keeps what is billed differently apart", async () => {
      await using fresh = await create(manualClock());
      const [one, two] = [
        await spender(fresh.store, "sesn_1", { agent: "clerk" }),
        await spender(fresh.store, "sesn_2", { agent: "reviewer" }),
      ];
      await one.end({ usd: 1, billing: "paid", tools: ["Bash", "Read"] });
      await one.end({ usd: 2, billing: "included" });
      await two.end({ usd: 4, billing: "paid" });
      await two.end({ usd: 8, billing: "paid", processed_at: new Date(NOON - 24 * 60 * MINUTE).toISOString() });
      const parts = async (by: Grouping, split: Split) =>
        (await fresh.store.ledger.lines({ by, split })).map(({ key, part, billing, usd }) => [key, part, billing, usd]);
      expect(await parts("day", "agent")).toEqual([
        ["2026-01-01", "reviewer", "paid", 4],
        ["2026-01-01", "clerk", "included", 2],
        ["2026-01-01", "clerk", "paid", 1],
        ["2025-12-31", "reviewer", "paid", 8],
      ]);
      expect(await parts("agent", "tool")).toEqual([
        ["reviewer", "(message)", "paid", 12],
        ["clerk", "(message)", "included", 2],
        ["clerk", "Bash", "paid", 0.5],
        ["clerk", "Read", "paid", 0.5],
      ]);
      expect(await parts("thread", "session")).toEqual([
        ["(primary)", "sesn_2", "paid", 12],
        ["(primary)", "sesn_1", "included", 2],
        ["(primary)", "sesn_1", "paid", 1],
      ]);
      for (const line of await fresh.store.ledger.lines({ by: "day" })) expect(line).not.toHaveProperty("part");
    });

    test("splits a request over the tools whose results it read", async () => {
      await using fresh = await create(manualClock());
      const session = await spender(fresh.store, "sesn_1");
      await session.end({ usd: 1, model_usage: tokens(5, 1), tools: ["Bash", "Read"] });
      await session.end({ usd: 3, model_usage: tokens(7, 1) });
      const lines = await fresh.store.ledger.lines({ by: "tool" });
      expect(lines.map(({ key, usd, inputTokens }) => [key, usd, inputTokens])).toEqual([
        ["(message)", 3, 7],
        ["Bash", 0.5, 3],
        ["Read", 0.5, 2],
      ]);
    });

    test("knows the days of a zone", async () => {
      await using fresh = await create(manualClock());
      const session = await spender(fresh.store, "sesn_1");
      // In winter Berlin is an hour ahead, and Kathmandu five and three quarters.
      for (const time of ["2026-01-01T18:10:00Z", "2026-01-01T18:20:00Z", "2026-01-01T23:30:00Z"])
        await session.end({ usd: 1, processed_at: time });
      const days = async (timeZone: string) => keysOf(await fresh.store.ledger.lines({ by: "day", timeZone }));
      expect(await days("UTC")).toEqual([["2026-01-01", "paid", 3]]);
      expect(await days("Europe/Berlin")).toEqual([
        ["2026-01-02", "paid", 1],
        ["2026-01-01", "paid", 2],
      ]);
      expect(await days("Asia/Kathmandu")).toEqual([
        ["2026-01-02", "paid", 2],
        ["2026-01-01", "paid", 1],
      ]);
    });

    test("is asked about a project and a time", async () => {
      await using fresh = await create(manualClock());
      const [one, two] = [
        await spender(fresh.store, "sesn_1", { project: "one" }),
        await spender(fresh.store, "sesn_2", { project: "two" }),
      ];
      await one.end({ usd: 1, processed_at: new Date(NOON - 1).toISOString() });
      await one.end({ usd: 2 });
      await two.end({ usd: 4 });
      expect(keysOf(await fresh.store.ledger.lines({ by: "project", since: NOON }))).toEqual([
        ["two", "paid", 4],
        ["one", "paid", 2],
      ]);
      expect(keysOf(await fresh.store.ledger.lines({ by: "session", project: "one" }))).toEqual([
        ["sesn_1", "paid", 3],
      ]);
    });

    test("counts a request once, however often its session was imported", async () => {
      await using fresh = await create(manualClock());
      const id = uniqueId();
      for (const name of ["sesn_1", "sesn_2"]) await (await spender(fresh.store, name)).end({ id, usd: 2 });
      expect(keysOf(await fresh.store.ledger.lines({ by: "agent" }))).toEqual([["reviewer", "paid", 2]]);
    });

    test("takes figures that no model API should give", async () => {
      await using fresh = await create(manualClock());
      const session = await spender(fresh.store, "sesn_1");
      await session.end({ model_usage: tokens(1.5, 1e300) });
      expect(await fresh.store.ledger.lines({ by: "agent" })).toMatchObject([{ inputTokens: 2 }]);
    });

    test("stays when the session is deleted, because the money is gone", async () => {
      await using fresh = await create(manualClock());
      const session = await spender(fresh.store, "sesn_1");
      await session.end({ usd: 2 });
      await fresh.store.deleteSession("sesn_1", session.lease.fence);
      expect(keysOf(await fresh.store.ledger.lines({ by: "session" }))).toEqual([["sesn_1", "paid", 2]]);
    });

    test("tells lists what nobody is billed for, and what has no price", async () => {
      await using fresh = await create(manualClock());
      const session = await spender(fresh.store, "sesn_1");
      await session.end({ usd: 1, billing: "paid" });
      await session.end({ usd: 2, billing: "included" });
      await session.end({ usd: 4, billing: "rehearsal" });
      await session.end({ usd: null, billing: "paid" });
      await spender(fresh.store, "sesn_2");
      const [other, first] = (await fresh.store.sessions()).toSorted((a, b) => (a.id < b.id ? 1 : -1));
      expect(first).toMatchObject({ usd: 7, includedUsd: 2, rehearsalUsd: 4, unpricedRequests: 1 });
      expect(other).not.toHaveProperty("rehearsalUsd");
    });

    test("remembers the last whole answers of a session", async () => {
      await using fresh = await create(manualClock());
      const session = await spender(fresh.store, "sesn_1");
      for (const output of [1, 2, 3]) await session.end({ model_usage: tokens(1, output) });
      await session.end({ model_usage: tokens(1, 99), estimated: true });
      expect(await fresh.store.ledger.recentOutputs("sesn_1", 2)).toEqual([3, 2]);
    });
  });
}
