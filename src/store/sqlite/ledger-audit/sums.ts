import type { AuditRecord, LedgerRecord, SpendRecord } from "../../../core/session/audit.ts";
import { bucketOf } from "../../../core/money/budget-day.ts";
import type { SessionEvent } from "../../../core/events/events.ts";
import { EMPTY_SUMMARY, summarize } from "../sessions/summary.ts";
import { agentKey, ALL_TIME, NOTHING, type Sums, sumsOf } from "../ledger/ledger-projection.ts";

type SessionRecord = Extract<AuditRecord, { record: "session" }>;

interface Spent {
  readonly sessionId: string;
  readonly project: string;
  readonly agent: string;
  readonly event: SessionEvent;
}

export interface SumProblem {
  /** Whose figures they are. */
  readonly project: string;
  readonly problem: string;
}

/** Adding in another order rounds otherwise. */
const ROUNDING = 1e-8;

/** The sums that budgets are checked against, worked out anew and compared with those that are stored. */
export class LedgerSums {
  readonly #expected = new Map<string, Sums>();
  readonly #stored = new Map<string, Sums>();
  readonly #problems: SumProblem[] = [];
  readonly #projects = new Map<string, string>();
  #session: SessionRecord | undefined;
  #summary = EMPTY_SUMMARY;

  /** The next session begins; undefined after the last one. */
  session(record: SessionRecord | undefined): void {
    const before = this.#session;
    if (before?.deleted === false && !isSummary(before, this.#summary))
      this.#problems.push({
        project: before.project,
        problem: `the sums of the session ${before.session_id} are not what its log adds up to: they were altered`,
      });
    this.#session = record;
    if (record !== undefined) this.#projects.set(record.session_id, record.project);
    this.#summary = EMPTY_SUMMARY;
  }

  /** A session's own sums, and the turns and calls of all it belongs to, follow from its log. */
  event({ sessionId, project, agent, event }: Spent): void {
    const at = Date.parse(event.processed_at ?? "") || 0;
    if (event.type === "span.model_request_end") this.#add("session", sessionId, ALL_TIME, sumsOf(event));
    const { turns: before } = this.#summary;
    this.#summary = summarize(this.#summary, event);
    const turns = this.#summary.turns - before;
    const shared = { project, agent, at };
    if (turns > 0) this.#addToShared(shared, { ...NOTHING, billing: "", turns });
    else if (event.type === "capstan.permission_decided" && event.decision === "allow")
      this.#addToShared(shared, { ...NOTHING, billing: "", toolCalls: 1 });
  }

  /** What all sessions together have spent follows from the rows of the ledger, each of which is checked. */
  row(row: LedgerRecord): void {
    this.#addToShared(row, {
      ...NOTHING,
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

  /** `hasErased`: turns and calls of erased sessions are known from the sums alone, and so are their own sums. */
  problems(hasErased: boolean): SumProblem[] {
    const problems = [...this.#problems];
    for (const key of new Set([...this.#expected.keys(), ...this.#stored.keys()])) {
      const [scope = "", name = "", , billing = ""] = JSON.parse(key) as string[];
      const [expected, stored] = [this.#expected.get(key), this.#stored.get(key)];
      if (hasErased && expected === undefined && (scope === "session" || billing === "")) continue;
      if (isSame(expected ?? NOTHING, stored ?? NOTHING, hasErased && billing === "")) continue;
      problems.push({
        project: this.#projectOf(scope, name),
        problem: `the sum of the ${scope} ${name} is not what the ledger and the log add up to: it was altered`,
      });
    }
    return problems;
  }

  #projectOf(scope: string, name: string): string {
    if (scope === "session") return this.#projects.get(name) ?? "";
    // The name of an agent has no blank.
    return scope === "agent" ? name.slice(name.indexOf(" ") + 1) : name;
  }

  #addToShared({ project, agent, at }: { project: string; agent: string; at: number }, sums: Sums): void {
    this.#add("agent", agentKey(project, agent), ALL_TIME, sums);
    this.#add("project", project, ALL_TIME, sums);
    this.#add("day", project, bucketOf(at), sums);
  }

  #add(scope: string, name: string, bucket: number, sums: Sums): void {
    const key = keyOf(scope, name, bucket, sums.billing);
    const before = this.#expected.get(key) ?? NOTHING;
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
  return (Object.keys(NOTHING) as (keyof Figures)[]).every((name) => {
    const difference = stored[name] - expected[name];
    const isNothing = Math.abs(difference) <= ROUNDING * Math.max(1, Math.abs(expected[name]));
    return isNothing || (orMore && difference > 0);
  });
}
