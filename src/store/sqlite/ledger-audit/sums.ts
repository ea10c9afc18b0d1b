import type { AuditRecord, LedgerRecord, SpendRecord } from "../../../core/session/audit.ts";
import { bucketOf } from "../../../core/money/budget-day.ts";
import type { SessionEvent } from "../../../core/events/events.ts";
import { EMPTY_SUMMARY, summarize } from "../sessions/summary.ts";
import { agentKey, ALL_TIME, ZERO_SUMS, type Sums, sumsOf } from "../ledger/ledger-projection.ts";

type SessionRecord = Extract<AuditRecord, { record: "session" }>;

interface Spent {
  readonly sessionId: string;
  readonly project: string;
  readonly agent: string;
  readonly event: SessionEvent;
}

export interface SumProblem {
  /** The project of the figures. */
  readonly project: string;
  readonly problem: string;
}

/** Adding in another order rounds differently. */
const ROUNDING = 1e-8;

/** Recomputes the totals that budgets are checked against, and compares them with the saved ones. */
export class LedgerSums {
  readonly #expected = new Map<string, Sums>();
  readonly #stored = new Map<string, Sums>();
  readonly #problems: SumProblem[] = [];
  readonly #projects = new Map<string, string>();
  #session: SessionRecord | undefined;
  #summary = EMPTY_SUMMARY;

  /** The next session starts; undefined after the last one. */
  session(record: SessionRecord | undefined): void {
    const before = this.#session;
    if (before?.deleted === false && !isSummary(before, this.#summary))
      this.#problems.push({
        project: before.project,
        problem: `the totals of session ${before.session_id} do not match its log: they were altered`,
      });
    this.#session = record;
    if (record !== undefined) this.#projects.set(record.session_id, record.project);
    this.#summary = EMPTY_SUMMARY;
  }

  /** A session's own totals, and the turns and calls in all its scopes, follow from its log. */
  event({ sessionId, project, agent, event }: Spent): void {
    const at = Date.parse(event.processed_at ?? "") || 0;
    if (event.type === "span.model_request_end") this.#add("session", sessionId, ALL_TIME, sumsOf(event));
    const { turns: before } = this.#summary;
    this.#summary = summarize(this.#summary, event);
    const turns = this.#summary.turns - before;
    const shared = { project, agent, at };
    if (turns > 0) this.#addToShared(shared, { ...ZERO_SUMS, billing: "", turns });
    else if (event.type === "capstan.permission_decided" && event.decision === "allow")
      this.#addToShared(shared, { ...ZERO_SUMS, billing: "", toolCalls: 1 });
  }

  /** The spend of all sessions together follows from the ledger's rows, each of which is checked. */
  row(row: LedgerRecord): void {
    this.#addToShared(row, {
      ...ZERO_SUMS,
      billing: row.billing as Sums["billing"],
      usd: row.usd ?? 0,
      input: row.input_tokens,
      output: row.output_tokens,
      cache: row.cache_read_tokens + row.cache_write_tokens,
      unpriced: row.usd === null ? 1 : 0,
    });
  }

  sum(row: SpendRecord): void {
    this.#stored.set(keyOf(row.scope, row.key, row.bucket, row.billing), {
      billing: row.billing as Sums["billing"],
      usd: row.usd,
      input: row.input_tokens,
      output: row.output_tokens,
      cache: row.cache_tokens,
      turns: row.turns,
      toolCalls: row.tool_calls,
      unpriced: row.unpriced,
    });
  }

  /** `hasErased`: turns and calls of erased sessions are known only from the totals, and so are their own totals. */
  problems(hasErased: boolean): SumProblem[] {
    const problems = [...this.#problems];
    for (const key of new Set([...this.#expected.keys(), ...this.#stored.keys()])) {
      const [scope = "", name = "", , billing = ""] = JSON.parse(key) as string[];
      const [expected, stored] = [this.#expected.get(key), this.#stored.get(key)];
      if (hasErased && expected === undefined && (scope === "session" || billing === "")) continue;
      if (isSame(expected ?? ZERO_SUMS, stored ?? ZERO_SUMS, hasErased && billing === "")) continue;
      problems.push({
        project: this.#projectOf(scope, name),
        problem: `the total of the ${scope} ${name} does not match the ledger and the log: it was altered`,
      });
    }
    return problems;
  }

  #projectOf(scope: string, name: string): string {
    if (scope === "session") return this.#projects.get(name) ?? "";
    // An agent's name contains no space.
    return scope === "agent" ? name.slice(name.indexOf(" ") + 1) : name;
  }

  #addToShared({ project, agent, at }: { project: string; agent: string; at: number }, sums: Sums): void {
    this.#add("agent", agentKey(project, agent), ALL_TIME, sums);
    this.#add("project", project, ALL_TIME, sums);
    this.#add("day", project, bucketOf(at), sums);
  }

  #add(scope: string, name: string, bucket: number, sums: Sums): void {
    const key = keyOf(scope, name, bucket, sums.billing);
    const before = this.#expected.get(key) ?? ZERO_SUMS;
    this.#expected.set(key, {
      billing: sums.billing,
      usd: before.usd + sums.usd,
      input: before.input + sums.input,
      output: before.output + sums.output,
      cache: before.cache + sums.cache,
      turns: before.turns + sums.turns,
      toolCalls: before.toolCalls + sums.toolCalls,
      unpriced: before.unpriced + sums.unpriced,
    });
  }
}

function keyOf(scope: string, name: string, bucket: number, billing: string): string {
  return JSON.stringify([scope, name, bucket, billing]);
}

function isSummary({ turns, usd }: SessionRecord, summary: typeof EMPTY_SUMMARY): boolean {
  return turns === summary.turns && Math.abs(usd - summary.usd) <= ROUNDING * Math.max(1, summary.usd);
}

type Figures = Omit<Sums, "billing">;

function isSame(expected: Figures, stored: Figures, orMore: boolean): boolean {
  return (Object.keys(ZERO_SUMS) as (keyof Figures)[]).every((name) => {
    const difference = stored[name] - expected[name];
    const isNothing = Math.abs(difference) <= ROUNDING * Math.max(1, Math.abs(expected[name]));
    return isNothing || (orMore && difference > 0);
  });
}
