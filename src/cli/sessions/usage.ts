import { parseDuration } from "../../core/text/duration.ts";
import { isTimeZone } from "../../core/money/budget-schema.ts";
import { cacheHitRate } from "../../core/money/cache-hits.ts";
import { addLines, BILLINGS, type Billing, type Grouping, type LedgerLine } from "../../core/money/ledger.ts";
import { PRICES_DATE } from "../../core/money/prices.ts";
import { usageError as wrongUse } from "../terminal/failure.ts";
import { projectOf } from "../target/home.ts";
import { openRecords } from "../target/records.ts";
import { count, money, shortId, table } from "../terminal/text.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface UsageFlags {
  readonly by: Grouping;
  readonly since?: string;
  readonly project?: string;
  readonly timeZone?: string;
  readonly json?: boolean;
}

export async function showUsage(flags: UsageFlags): Promise<void> {
  const { by } = flags;
  const zone = flags.timeZone;
  if (zone !== undefined && !isTimeZone(zone))
    throw wrongUse(`Unknown time zone ${zone}. Use a name such as Europe/Berlin or UTC.`);
  const since = flags.since === undefined ? 0 : Date.now() - parseDuration(flags.since);
  const project = flags.project === undefined ? undefined : projectOf(flags.project);
  await using records = await openRecords();
  const { lines, timeZone } = await records.readSpending({
    by,
    since,
    ...(zone !== undefined && { timeZone: zone }),
    ...(project !== undefined && { project }),
  });
  const totals = BILLINGS.flatMap((billing) => totalOf(lines, billing));
  if (flags.json === true) {
    const lineToJson = (line: LedgerLine): object => ({ ...line, cacheHitRate: hitRateOf(line) ?? null });
    for (const line of lines) print(hiddenFreeJson({ by, ...lineToJson(line) }));
    for (const total of totals) print(hiddenFreeJson({ by: "total", ...lineToJson(total) }));
    return;
  }
  if (lines.length === 0) return print("No spending yet.");
  // Saves room: few agents search the web.
  const shape = { by, withSearches: lines.some(({ webSearches }) => webSearches > 0) };
  // One total per billing kind: subscriptions and the scripted model cost no money.
  const rows = totals.flatMap((total) => [
    ...lines.filter(({ billing }) => billing === total.billing).map((line) => row(line, shape)),
    row(total, shape),
  ]);
  print(
    table(
      [
        "USD",
        "REQUESTS",
        "IN",
        "CACHED",
        "HITS",
        "OUT",
        ...(shape.withSearches ? ["SEARCHES"] : []),
        "BILLING",
        by.toUpperCase(),
      ],
      rows,
    ),
  );
  print(`\n${notes(lines, { by, timeZone }).join("\n")}`);
}

function totalOf(lines: readonly LedgerLine[], billing: Billing): LedgerLine[] {
  const [first, ...rest] = lines.filter((line) => line.billing === billing);
  return first === undefined ? [] : [{ ...rest.reduce(addLines, first), key: "total" }];
}

function row(line: LedgerLine, { by, withSearches }: { by: Grouping; withSearches: boolean }): string[] {
  const key = by === "session" && line.key !== "total" ? shortId(line.key) : line.key;
  return [
    usd(line),
    count(line.requests),
    count(line.inputTokens),
    count(line.cacheReadTokens + line.cacheWriteTokens),
    percent(hitRateOf(line)),
    count(line.outputTokens),
    ...(withSearches ? [count(line.webSearches)] : []),
    line.billing,
    key,
  ];
}

/** The share of input tokens that came from the cache. */
function hitRateOf({ inputTokens: input, cacheReadTokens: read, cacheWriteTokens: written }: LedgerLine) {
  return cacheHitRate({ input, read, written });
}

function percent(share: number | undefined): string {
  return share === undefined ? "-" : `${Math.round(share * 100)}%`;
}

/** Shows unknown prices instead of counting them as zero. */
function usd(line: LedgerLine): string {
  if (line.unpricedRequests === 0) return money(line.usd);
  return line.unpricedRequests === line.requests ? "unknown" : `${money(line.usd)} + unknown`;
}

function notes(lines: readonly LedgerLine[], { by, timeZone }: { by: Grouping; timeZone: string }): string[] {
  const sum = (figure: "unpricedRequests" | "estimatedRequests"): number =>
    lines.reduce((total, line) => total + line[figure], 0);
  const unpriced = sum("unpricedRequests");
  const estimated = sum("estimatedRequests");
  return [
    `List prices as of ${PRICES_DATE}, unless set in the settings${by === "day" ? `; days in ${timeZone}` : ""}.`,
    ...(unpriced > 0
      ? [`Requests with unknown price: ${count(unpriced)}. Add the model to prices in the settings.`]
      : []),
    ...(estimated > 0 ? [`Interrupted requests with estimated cost: ${count(estimated)}.`] : []),
  ];
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
