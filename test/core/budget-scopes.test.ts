import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dayOf, dayStart, BUCKET_MS, bucketOf } from "../../src/core/money/budget-day.ts";
import { estimate, percentile, type RequestSize } from "../../src/core/money/budget-estimate.ts";
import {
  addAmounts,
  type Amounts,
  crossingKey,
  judgeBudget,
  judgeToolCall,
  NO_AMOUNTS,
  type ScopeLimits,
  SCOPES,
  type Standing,
} from "../../src/core/money/budget-scopes.ts";
import { limitText } from "../../src/core/session/session-limits.ts";

const standing = (spent: Partial<Standing["spent"]> = {}, reserved: Partial<Amounts> = {}): Standing => ({
  spent: { ...NO_AMOUNTS, turns: 0, toolCalls: 0, ...spent },
  reserved: { ...NO_AMOUNTS, ...reserved },
});
const need = (amounts: Partial<Amounts>): { needed: Amounts; agreed: string[] } => ({
  needed: { ...NO_AMOUNTS, ...amounts },
  agreed: [],
});

/** Whole cents, so that a sum is exact and a test can be strict. */
const amounts: fc.Arbitrary<Amounts> = fc.record({
  usd: fc.nat(1_000),
  input: fc.nat(1_000),
  output: fc.nat(1_000),
  cache: fc.nat(1_000),
});
const limit = fc.option(fc.integer({ min: 1, max: 3_000 }), { nil: undefined });
const limits = fc.record({ usd: limit, tokens: limit, input_tokens: limit, output_tokens: limit, cache_tokens: limit });

describe("a request", () => {
  test("is granted exactly when spent, reserved and needed together fit every limit of every scope", () => {
    const scope = fc.record({ scope: fc.constantFrom(...SCOPES), limits, spent: amounts, reserved: amounts });
    fc.assert(
      fc.property(fc.array(scope, { maxLength: 4 }), amounts, (scopes, needed) => {
        const judged = judgeBudget(
          scopes.map((one) => ({ ...one, standing: standing(one.spent, one.reserved) })),
          { needed, agreed: [] },
        );
        const fits = scopes.every((one) => {
          const all = addAmounts(addAmounts(one.spent, one.reserved), needed);
          const pairs: [number | undefined, number, number][] = [
            [one.limits.usd, all.usd, one.spent.usd],
            [
              one.limits.tokens,
              all.input + all.output + all.cache,
              one.spent.input + one.spent.output + one.spent.cache,
            ],
            [one.limits.input_tokens, all.input, one.spent.input],
            [one.limits.output_tokens, all.output, one.spent.output],
            [one.limits.cache_tokens, all.cache, one.spent.cache],
          ];
          return pairs.every(([most, sum, spent]) => most === undefined || (sum <= most && spent < most));
        });
        expect(judged.kind).toBe(fits ? "granted" : "refused");
      }),
    );
  });

  test("in any order of reserving and settling never takes a scope past its limit by more than estimates were short", () => {
    const step = fc.record({
      estimate: fc.integer({ min: 1, max: 300 }),
      excess: fc.nat(50),
      settleFirst: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), fc.array(step, { maxLength: 40 }), (usd, steps) => {
        let spent = 0;
        const open: { estimate: number; excess: number }[] = [];
        let short = 0;
        for (const { estimate: needed, excess, settleFirst } of steps) {
          const settled = settleFirst ? open.shift() : undefined;
          if (settled !== undefined) {
            spent += settled.estimate + settled.excess;
            short += settled.excess;
          }
          const held = open.reduce((sum, one) => sum + one.estimate, 0);
          const scopes = [
            { scope: "project" as const, limits: { usd }, standing: standing({ usd: spent }, { usd: held }) },
          ];
          if (judgeBudget(scopes, need({ usd: needed })).kind === "granted") open.push({ estimate: needed, excess });
          const worst = open.reduce((sum, one) => sum + one.estimate, spent);
          expect(worst).toBeLessThanOrEqual(usd + short);
        }
      }),
    );
  });

  test("is not refused for what is only the error of adding", () => {
    const scope: ScopeLimits = { scope: "session", limits: { usd: 0.3 } };
    expect(judgeBudget([{ ...scope, standing: standing({ usd: 0.1 }) }], need({ usd: 0.2 })).kind).toBe("granted");
    expect(judgeBudget([{ ...scope, standing: standing({ usd: 0.1 }) }], need({ usd: 0.2001 })).kind).toBe("refused");
  });

  test("is refused with whose limit it is, what is spent, held and needed", () => {
    const scopes = [
      { scope: "session" as const, limits: { usd: 10 }, standing: standing({ usd: 1 }) },
      { scope: "day" as const, limits: { usd: 2 }, standing: standing({ usd: 1.5 }, { usd: 0.25 }) },
    ];
    const verdict = judgeBudget(scopes, need({ usd: 0.5 }));
    const hit = { scope: "day", which: "usd", limit: 2, spent: 1.5, reserved: 0.25, needed: 0.5 } as const;
    expect(verdict).toEqual({ kind: "refused", hit });
    expect(limitText(hit)).toBe(
      "The day's limit of 2 USD is reached: 1.5 spent, 0.25 reserved for running requests, about 0.5 needed for the next request. " +
        "Raise it under budgets.day in the settings and resume the session, or wait for tomorrow.",
    );
  });

  test("names each limit in its own unit", () => {
    const texts = [
      limitText({ which: "deadline", limit: 2_000, spent: 2_000 }),
      limitText({ which: "memory_bytes", limit: 536_870_912, spent: 600_000_000 }),
      limitText({ which: "cpu_seconds", limit: 60, spent: 61 }),
      limitText({ which: "processes", limit: 20, spent: 21 }),
    ];
    expect(texts).toEqual([
      "The turn reached its deadline of 2 s. Send a message to continue, or resume the session with a longer deadline.",
      "The session's processes used more than their limit of 512 MiB of memory: 572 MiB. Raise environment.limits.memory_bytes and send a message to continue.",
      "The session's processes used more than their limit of 60 s of CPU time: 61 s. Raise environment.limits.cpu_seconds and send a message to continue.",
      "The session's processes used more than their limit of 20 processes: 21. Raise environment.limits.processes and send a message to continue.",
    ]);
  });

  test("of a turn above the limit is refused, and one of the last turn is not", () => {
    const scope: ScopeLimits = { scope: "agent", limits: { turns: 2 } };
    expect(judgeBudget([{ ...scope, standing: standing({ turns: 2 }) }], need({})).kind).toBe("granted");
    expect(judgeBudget([{ ...scope, standing: standing({ turns: 3 }) }], need({}))).toMatchObject({
      hit: { scope: "agent", which: "turns", limit: 2, spent: 2 },
    });
  });
});

describe("a share of a limit", () => {
  const scope: ScopeLimits = { scope: "project", limits: { usd: 10, tokens: 1_000, warn_at: 0.5, ask_at: 0.8 } };
  const at = (usd: number, agreed: readonly string[] = []) =>
    judgeBudget([{ ...scope, standing: standing({ usd }) }], { needed: { ...NO_AMOUNTS, usd: 0.1 }, agreed });

  test("is told when it is spent, and asked about later, until a person agrees", () => {
    expect(at(4.9)).toEqual({ kind: "granted", warnings: [] });
    const warning = { kind: "warn", scope: "project", which: "usd", limit: 10, spent: 5, at: 0.5 } as const;
    expect(at(5)).toEqual({ kind: "granted", warnings: [warning] });
    const question = { kind: "ask", scope: "project", which: "usd", limit: 10, spent: 8, at: 0.8 } as const;
    expect(at(8)).toEqual({ kind: "ask", crossing: question });
    expect(at(9, [crossingKey(question)])).toMatchObject({ kind: "granted", warnings: [{ kind: "warn" }] });
    expect(at(10, [crossingKey(question)])).toMatchObject({ kind: "refused" });
  });

  test("of another limit or another day is another one", () => {
    const question = { kind: "ask", scope: "day", which: "usd", limit: 10, at: 0.8, day: "2026-01-01" } as const;
    const keys = [question, { ...question, limit: 20 }, { ...question, day: "2026-01-02" }].map(crossingKey);
    expect(new Set(keys).size).toBe(3);
  });
});

test("a tool call is refused once a scope has had so many", () => {
  const scope: ScopeLimits = { scope: "project", limits: { tool_calls: 3, usd: 1 } };
  expect(judgeToolCall([{ ...scope, standing: standing({ toolCalls: 2, usd: 5 }) }])).toBeUndefined();
  expect(judgeToolCall([{ ...scope, standing: standing({ toolCalls: 3 }) }])).toEqual({
    scope: "project",
    which: "tool_calls",
    limit: 3,
    spent: 3,
  });
});

const usage = (input: number, cached: number) => ({
  input_tokens: input,
  output_tokens: 1,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: 0,
});

const size = (inputTokens: number): RequestSize => ({
  inputTokens,
  maxTokens: undefined,
  isStream: true,
  cached: "no",
  webSearches: 0,
});

describe("an estimate", () => {
  const none = { outputs: [] };
  test("goes by the length of the request and a configured answer at first", () => {
    expect(estimate(size(11), { experience: none, reserveOutputTokens: 4_096 })).toMatchObject({
      input: 11,
      cache: 0,
      output: 4_096,
    });
  });

  test("never reserves more answer than the request allows", () => {
    expect(estimate({ ...size(10), maxTokens: 100 }, { experience: none, reserveOutputTokens: 4_096 }).output).toBe(
      100,
    );
  });

  test("goes by the session's own requests and answers later", () => {
    const experience = { outputs: [10, 20, 30, 40, 1_000], last: { inputTokens: 200, usage: usage(100, 300) } };
    expect(estimate(size(400), { experience, reserveOutputTokens: 1 })).toMatchObject({
      input: 200,
      cache: 600,
      output: 1_000,
    });
  });

  test("is never less than the usual measure or the configured answer, whatever came before", () => {
    const experience = { outputs: [1, 1, 1, 1, 1], last: { inputTokens: 1_000, usage: usage(1, 0) } };
    const given = { experience, reserveOutputTokens: 500 };
    expect(estimate(size(400), given)).toMatchObject({ input: 400, output: 500 });
  });

  test("takes the whole answer that is allowed when it comes in one piece", () => {
    const given = { experience: none, reserveOutputTokens: 100 };
    expect(estimate({ ...size(1), isStream: false, maxTokens: 32_000 }, given).output).toBe(32_000);
  });

  test("is priced as the dearest use of its tokens", () => {
    const given = { experience: none, reserveOutputTokens: 10 };
    expect(estimate({ ...size(7), cached: "1h", webSearches: 3 }, given).usage).toEqual({
      ...usage(0, 0),
      output_tokens: 10,
      cache_creation_input_tokens: 7,
      cache_creation_1h_input_tokens: 7,
      web_search_requests: 3,
    });
  });

  test("takes the answer that 95 of 100 did not exceed", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(10_000), { minLength: 1, maxLength: 200 }), (values) => {
        const value = percentile(values, 0.95);
        expect(values).toContain(value);
        expect(values.filter((one) => one <= value).length).toBeGreaterThanOrEqual(values.length * 0.95);
        expect(values.filter((one) => one < value).length).toBeLessThan(values.length * 0.95);
      }),
    );
  });
});

describe("a day", () => {
  test.each([
    ["UTC", "2026-03-29T12:00:00Z", "2026-03-29", "2026-03-29T00:00:00Z"],
    ["Europe/Berlin", "2026-01-15T23:30:00Z", "2026-01-16", "2026-01-15T23:00:00Z"],
    // Clocks go forward on this day, and back on the next one.
    ["Europe/Berlin", "2026-03-29T20:00:00Z", "2026-03-29", "2026-03-28T23:00:00Z"],
    ["Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-25", "2026-10-24T22:00:00Z"],
    ["Asia/Kathmandu", "2026-05-01T18:20:00Z", "2026-05-02", "2026-05-01T18:15:00Z"],
    // There midnight itself is left out when the clocks go forward.
    ["Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-24", "2026-04-23T22:00:00Z"],
  ])("in %s at %s is %s and began at %s", (zone, at, date, start) => {
    expect(dayOf(Date.parse(at), zone)).toBe(date);
    expect(dayStart(Date.parse(at), zone) * BUCKET_MS).toBe(Date.parse(start));
  });

  test("begins in no zone later than now, and holds nothing of the day before", () => {
    const zones = ["UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia", "Asia/Tehran"];
    const instant = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2035, 0, 1) });
    fc.assert(
      fc.property(fc.constantFrom(...zones), instant, (zone, at) => {
        const start = dayStart(at, zone);
        expect(start).toBeLessThanOrEqual(bucketOf(at));
        expect(dayOf(start * BUCKET_MS, zone)).toBe(dayOf(at, zone));
        expect(dayOf((start - 1) * BUCKET_MS, zone) < dayOf(at, zone)).toBe(true);
      }),
    );
  });
});
