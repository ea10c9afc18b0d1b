import { CircleCheck, CircleX, Diff } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { Link } from "wouter";
import { changedFiles, inputTokens } from "../../../src/protocol/api/suite-run-facts.ts";
import { FoldedText } from "../parts/text/code.tsx";
import { cx } from "../parts/cx.ts";
import { filesOf, PatchView } from "../parts/text/diff-view.tsx";
import { Markdown } from "../parts/text/markdown.tsx";
import { Tree } from "../parts/text/tree.tsx";
import type { TrialRun, GraderVerdict } from "./run-facts.ts";
import { Fold } from "./fold.tsx";
import { Transcript } from "./transcript.tsx";
import { count, duration, money, thousands } from "../../../src/words/amounts.ts";

/** A trial in full. Sections that explain a failure start open. */
export function TrialView({ trial }: { readonly trial: TrialRun }) {
  const { status, error, verdicts, drifts, ignored, text, output, changes, steps } = trial;
  const isBad = status !== "passed";
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Facts trial={trial} />
      {error !== undefined && (
        <div className="rounded-md border border-bad/40 bg-bad-soft p-3 text-sm">
          <p className="font-medium text-bad">The trial could not be run or graded</p>
          <p dir="auto" className="break-words whitespace-pre-wrap">
            {error}
          </p>
        </div>
      )}
      {verdicts.length > 0 && (
        <Part title="Graders">
          <ul className="flex flex-col gap-2">
            {verdicts.toSorted(failedFirst).map((verdict, index) => (
              // A grader may appear twice; graders keep their order.
              // oxlint-disable-next-line react/no-array-index-key
              <OneVerdict key={index} verdict={verdict} />
            ))}
          </ul>
        </Part>
      )}
      {drifts.length > 0 && (
        <Part title="Drift from the cassette">
          <ul className="flex flex-col gap-2">
            {drifts.map(({ thread, ordinal, what, summary, diff }) => (
              <li key={`${thread} ${ordinal} ${what}`} className="flex min-w-0 flex-col gap-1.5 text-sm">
                <p className="flex gap-2">
                  <Diff aria-hidden className="mt-0.5 size-4 shrink-0 text-waiting" />
                  <span className="min-w-0 break-words">
                    <strong className="font-medium">{what}</strong>{" "}
                    <span className="text-faint">
                      request {ordinal} of <bdi>{thread}</bdi>
                    </span>{" "}
                    <bdi>{summary}</bdi>
                  </span>
                </p>
                {diff !== "" && <AnyDiff text={diff} />}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {text !== "" && (
        <Part title="Final answer">
          <div className="max-h-96 overflow-y-auto rounded-md border border-line bg-surface px-3 py-2 text-sm">
            <Markdown text={text} />
          </div>
        </Part>
      )}
      {ignored.length > 0 && (
        <Fold title="Ignored differences" note={count(ignored.length, "request")} open={false}>
          {ignored.map(({ thread, ordinal, kinds, diff }) => (
            <div key={`${thread} ${ordinal}`} className="flex min-w-0 flex-col gap-1.5 text-sm">
              <p>
                {kinds.join(", ")}{" "}
                <span className="text-faint">
                  request {ordinal} of <bdi>{thread}</bdi>
                </span>
              </p>
              <AnyDiff text={diff} />
            </div>
          ))}
        </Fold>
      )}
      {output !== undefined && (
        <Fold title="Structured output" open={false}>
          <Tree value={output} />
        </Fold>
      )}
      {changes !== "" && (
        <Fold title="Workspace changes" note={changedFiles(changes)} open={isBad}>
          <AnyDiff text={changes} />
        </Fold>
      )}
      {steps.length > 0 && (
        <Fold title="Transcript" note={count(steps.length, "step")} open={isBad}>
          <Transcript steps={steps} />
        </Fold>
      )}
    </div>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <h4 className="text-xs font-semibold text-muted">{title}</h4>
      {children}
    </div>
  );
}

function Facts({ trial }: { readonly trial: TrialRun }) {
  const { stopReason, usd: cost, judgeUsd, requests, durationMs, sessionId } = trial;
  const rows: readonly (readonly [string, ReactNode])[] = [
    ["Cost", cost === null ? "unknown" : money(cost)],
    ["Judges", judgeUsd === 0 ? undefined : money(judgeUsd)],
    ["Tokens", `${thousands(inputTokens(trial.tokens))} in, ${thousands(trial.tokens.output)} out`],
    ["Requests", thousands(requests)],
    ["Time", duration(durationMs)],
    ["Stop reason", stopReason ?? undefined],
    [
      "Session",
      sessionId === null ? undefined : (
        <Link href={`/sessions/${sessionId}`} className="font-mono text-xs break-all text-accent hover:underline">
          {sessionId}
        </Link>
      ),
    ],
  ];
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
      {rows.map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name} className="flex max-w-full min-w-0 items-baseline gap-1.5">
              <dt className="shrink-0 text-xs text-faint">{name}</dt>
              <dd data-figure className="min-w-0 break-words">
                {value}
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}

function failedFirst(a: GraderVerdict, b: GraderVerdict): number {
  return Number(a.passed) - Number(b.passed);
}

function OneVerdict({ verdict: { grader, passed, score, message, diff } }: { readonly verdict: GraderVerdict }) {
  const Icon = passed ? CircleCheck : CircleX;
  return (
    <li className="flex min-w-0 flex-col gap-1.5 text-sm">
      <div className="flex gap-2">
        <Icon
          role="img"
          aria-label={passed ? "passed" : "failed"}
          className={cx("mt-0.5 size-4 shrink-0", passed ? "text-good" : "text-bad")}
        />
        <div className="min-w-0 flex-1">
          <p>
            <strong dir="auto" className="font-medium break-words">
              {grader}
            </strong>
            {score > 0 && score < 1 && <span className="ml-2 text-xs text-faint">score {score.toFixed(2)}</span>}
          </p>
          <p dir="auto" className="break-words whitespace-pre-wrap text-muted">
            {message}
          </p>
        </div>
      </div>
      {diff !== undefined && diff !== "" && <AnyDiff text={diff} />}
    </li>
  );
}

/** A diff, or plain text if it was truncated or cannot be parsed. */
function AnyDiff({ text }: { readonly text: string }) {
  const isKnown = useMemo(() => filesOf(text).some(({ lines }) => lines.length > 0), [text]);
  return isKnown ? (
    <PatchView patch={text} />
  ) : (
    <div className="overflow-hidden rounded-md border border-line bg-surface p-3">
      <FoldedText text={text} language="diff" />
    </div>
  );
}
