import type { WireSuiteRun } from "../../../src/client/index.ts";
import {
  CASE_STATUSES,
  casesSummary,
  type CaseStatus,
  inputTokens,
  priceNote,
} from "../../../src/protocol/api/suite-run-facts.ts";
import { cx } from "../parts/cx.ts";
import { Card, Section } from "../parts/page.tsx";
import { Pill, type Tone } from "../parts/tone.tsx";
import { type PlacedSuite, type Remark, remarksOf } from "./placed-cases.ts";
import { countsText, priceOf } from "./run-facts.ts";
import { Status } from "./status.tsx";
import { count, duration, thousands } from "../../../src/words/amounts.ts";

const BARS: Readonly<Record<CaseStatus, string>> = {
  passed: "bg-good",
  failed: "bg-bad",
  error: "bg-bad/60",
  not_run: "bg-waiting",
  skipped: "bg-line-strong",
};

/** The totals of a run. */
export function RunOverview({ run }: { readonly run: WireSuiteRun }) {
  const sums = casesSummary(run.suites.flatMap(({ cases }) => cases));
  const { counts, cases } = sums;
  const input = inputTokens(sums.tokens);
  const { output } = sums.tokens;
  return (
    <div className="flex flex-col gap-3">
      <div
        role="img"
        aria-label={countsText(counts)}
        className="flex h-2 gap-px overflow-hidden rounded-full bg-sunken"
      >
        {CASE_STATUSES.filter((status) => counts[status] > 0).map((status) => (
          <span
            key={status}
            className={cx("h-full", BARS[status])}
            style={{ width: `${(counts[status] / cases) * 100}%` }}
          />
        ))}
      </div>
      <ul className="flex flex-wrap gap-3 text-sm">
        {CASE_STATUSES.filter((status) => counts[status] > 0).map((status) => (
          <li key={status} className="flex items-center gap-1.5">
            <Status of={status} /> <strong data-figure>{thousands(counts[status])}</strong>
          </li>
        ))}
      </ul>
      <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Tile title="Cases passed" value={`${counts.passed} of ${cases}`} note={count(sums.trials, "trial")} />
        <Tile title="Cost" value={priceOf(sums)} note={priceNote(run, sums)} />
        <Tile
          title="Tokens"
          value={thousands(input + output)}
          note={`${thousands(input)} in, ${thousands(output)} out`}
        />
        <Tile title="Time" value={duration(run.durationMs)} note={count(sums.requests, "model request")} />
      </dl>
    </div>
  );
}

function Tile({ title, value, note }: { readonly title: string; readonly value: string; readonly note: string }) {
  return (
    <Card className="flex min-w-0 flex-col gap-1 p-3">
      <dt className="text-xs font-medium text-muted">{title}</dt>
      <dd data-figure className="text-xl font-semibold">
        {value}
      </dd>
      <dd className="text-xs text-faint">{note}</dd>
    </Card>
  );
}

const REMARKS: Readonly<Record<Remark["kind"], { readonly tone: Tone; readonly word: string }>> = {
  problem: { tone: "bad", word: "problem" },
  gate: { tone: "bad", word: "gate missed" },
  baseline: { tone: "waiting", word: "worse than baseline" },
};

/** Problems, missed gates and regressions against the baseline. */
export function Remarks({ run, suites }: { readonly run: WireSuiteRun; readonly suites: readonly PlacedSuite[] }) {
  const remarks = remarksOf(run.problems, suites);
  if (remarks.length === 0) return null;
  return (
    <Section title="Needs attention">
      <Card>
        <ul className="divide-y divide-line">
          {remarks.map((remark) => (
            <li
              key={`${remark.kind} ${remark.about} ${remark.message}`}
              className="flex gap-2 px-3 py-2 text-sm max-sm:flex-col max-sm:items-start"
            >
              <Pill tone={REMARKS[remark.kind].tone}>{REMARKS[remark.kind].word}</Pill>
              <p dir="auto" className="max-w-full min-w-0 break-words whitespace-pre-wrap">
                {remark.anchor !== undefined && (
                  <>
                    <a href={`#${remark.anchor}`} className="font-medium text-accent hover:underline">
                      {remark.about}
                    </a>
                    {": "}
                  </>
                )}
                {remark.message}
              </p>
            </li>
          ))}
        </ul>
      </Card>
    </Section>
  );
}
