import { expect, test } from "vitest";
import type { WireBudgetLine, WireLedgerLine } from "../../src/client/index.ts";
import { chosenZone, dayIn, lastDays, startOf, withLater } from "../../web/src/costs/days.ts";
import { amountOf, meterOf, nameOfLimit } from "../../web/src/costs/limits.ts";
import { billingsIn, cacheRate, dearest, rateByDay, seriesByPart, sum } from "../../web/src/costs/sums.ts";
import { price } from "../../web/src/costs/words.ts";

function line(changes: Partial<WireLedgerLine>): WireLedgerLine {
  return {
    key: "2026-03-01",
    part: "helper",
    billing: "paid",
    requests: 1,
    input_tokens: 10,
    output_tokens: 5,
    cache_read_tokens: 80,
    cache_write_tokens: 10,
    web_searches: 0,
    usd: 1,
    unpriced_requests: 0,
    estimated_requests: 0,
    ...changes,
  };
}

test("days are those of the zone, and begin when its clocks say so", () => {
  const late = Date.parse("2026-03-01T23:30:00Z");
  expect(dayIn(late, "UTC")).toBe("2026-03-01");
  expect(dayIn(late, "Europe/Berlin")).toBe("2026-03-02");
  expect(lastDays(3, late, "Europe/Berlin")).toEqual(["2026-02-28", "2026-03-01", "2026-03-02"]);
  expect(startOf("2026-03-02", "Europe/Berlin")).toBe(Date.parse("2026-03-01T23:00:00Z"));
  // A day later the clocks were set forward.
  expect(startOf("2026-03-30", "Europe/Berlin")).toBe(Date.parse("2026-03-29T22:00:00Z"));
  expect(startOf("2026-03-02", "Pacific/Kiritimati")).toBe(Date.parse("2026-03-01T10:00:00Z"));
  expect(startOf("2026-03-02", "America/Los_Angeles")).toBe(Date.parse("2026-03-02T08:00:00Z"));
});

test("a day whose midnight is left out begins an hour later", () => {
  // In Cairo clocks go from 23:59:59 to 01:00 on the last Friday of April.
  expect(startOf("2026-04-24", "Africa/Cairo")).toBe(Date.parse("2026-04-23T22:00:00Z"));
  expect(dayIn(startOf("2026-04-24", "Africa/Cairo") - 1, "Africa/Cairo")).toBe("2026-04-23");
});

test("a server that is a day ahead is not cut off, and a zone that the browser does not know is not used", () => {
  expect(withLater(["2026-03-01"], ["2026-03-02", "2026-02-01", "2026-03-02"])).toEqual(["2026-03-01", "2026-03-02"]);
  expect(chosenZone("Europe/Berlin", "UTC")).toBe("Europe/Berlin");
  expect(chosenZone("Moon/Crater", "UTC")).toBe("UTC");
  expect(chosenZone(undefined, "Asia/Tokyo")).toBe("Asia/Tokyo");
});

test("who pays is told apart, with most requests first", () => {
  const lines = [
    line({ billing: "rehearsal", usd: 9 }),
    line({ requests: 3 }),
    line({ requests: 2, usd: 0.5 }),
    line({ billing: "included", requests: 0 }),
  ];
  expect(billingsIn(lines).map(({ billing, sums }) => [billing, sums.requests, sums.usd])).toEqual([
    ["paid", 5, 1.5],
    ["rehearsal", 1, 9],
  ]);
});

test("the cache hit rate is a share of all input, and of no input there is none", () => {
  expect(cacheRate(sum([line({})]))).toBe(0.8);
  expect(cacheRate(sum([]))).toBeNull();
  expect(rateByDay([line({})], ["2026-02-28", "2026-03-01"])).toEqual([null, 0.8]);
});

test("the dearest parts have a series each, the others one together, and nothing is lost", () => {
  const lines = Array.from({ length: 9 }, (_, index) => line({ part: `agent-${index}`, usd: index }));
  const series = seriesByPart(lines, ["2026-02-28", "2026-03-01"], ({ usd }) => usd);
  expect(series.map(({ name }) => name)).toEqual([
    "agent-8",
    "agent-7",
    "agent-6",
    "agent-5",
    "agent-4",
    "agent-3",
    "Other (3)",
  ]);
  expect(series.at(-1)).toMatchObject({ values: [0, 3], isRest: true });
  expect(series.reduce((all, { values }) => all + (values[1] ?? 0), 0)).toBe(36);
});

test("what has no price is not taken for cheap", () => {
  const unpriced = line({ key: "b", usd: 0, unpriced_requests: 1, input_tokens: 1_000 });
  expect(price(sum([line({}), unpriced]))).toBe("≥ $1.00");
  expect(price(sum([line({})]))).toBe("$1.00");
  expect(dearest([line({ key: "a", usd: 0 }), unpriced, line({ key: "c" })], 2).map(({ key }) => key)).toEqual([
    "c",
    "b",
  ]);
});

function limit(changes: Partial<WireBudgetLine>): WireBudgetLine {
  return {
    scope: "project",
    name: "/srv/shop",
    which: "usd",
    limit: 10,
    spent: 6,
    reserved: 1,
    left: 3,
    ...changes,
  };
}

test("a limit says how it stands, and warns where the settings say", () => {
  expect(meterOf(limit({}), {})).toMatchObject({ share: 0.7, state: "fine" });
  expect(meterOf(limit({}), { project: { warn_at: 0.7 } }).state).toBe("nearly");
  expect(meterOf(limit({ scope: "agent", name: "helper" }), { agents: { helper: { warn_at: 0.5 } } }).state).toBe(
    "nearly",
  );
  expect(meterOf(limit({ spent: 10.5, left: 0 }), {}).state).toBe("spent");
  expect(amountOf("usd", 3)).toBe("$3.00");
  expect(amountOf("tool_calls", 3)).toBe("3 tool calls");
  expect(nameOfLimit(limit({ scope: "day", day: "2026-03-01" }))).toBe("Today, 2026-03-01");
});
