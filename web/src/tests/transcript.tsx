import { useState } from "react";
import { passagesOf, WHO } from "../../../src/protocol/api/suite-run-facts.ts";
import { FoldedText } from "../parts/text/code.tsx";
import { cx } from "../parts/cx.ts";
import { Pill } from "../parts/tone.tsx";
import { Chevron } from "./fold.tsx";
import type { TrialStep } from "./run-facts.ts";
import { thousands } from "../../../src/words/amounts.ts";

/** Steps per page: a runaway trial can have thousands. */
const PAGE = 200;

/** The steps of a trial in order; those of subagents are indented. */
export function Transcript({ steps }: { readonly steps: readonly TrialStep[] }) {
  const [count, setCount] = useState(PAGE);
  const passages = passagesOf(steps.slice(0, count));
  return (
    <>
      <ol className="flex flex-col gap-1.5">
        {passages.map((passage, index) => (
          // Steps keep their order.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} className={cx(passage.thread !== "main" && "border-l-2 border-accent/50 pl-3")}>
            {passage.thread !== "main" && (
              <p className="mb-1 text-xs break-words text-faint">
                subagent <bdi className="font-medium text-muted">{passage.thread}</bdi>
              </p>
            )}
            <ol className="flex flex-col gap-1.5">
              {passage.steps.map((step, place) => (
                // oxlint-disable-next-line react/no-array-index-key
                <Step key={place} step={step} />
              ))}
            </ol>
          </li>
        ))}
      </ol>
      {steps.length > count && (
        <button
          type="button"
          className="mt-2 text-sm text-accent hover:underline"
          onClick={() => setCount(count + 5 * PAGE)}
        >
          {thousands(steps.length - count)} more steps
        </button>
      )}
    </>
  );
}

const COLOURS: Partial<Record<TrialStep["kind"], string>> = {
  user: "text-accent",
  message: "text-text",
  approval: "text-waiting",
  limit: "text-waiting",
  error: "text-bad",
};

function Step({ step }: { readonly step: TrialStep }) {
  const { kind, outcome } = step;
  return (
    <li className="flex min-w-0 gap-2 text-sm max-sm:flex-col max-sm:gap-0">
      <span className={cx("w-16 shrink-0 text-xs leading-5 font-medium", COLOURS[kind] ?? "text-faint")}>
        {WHO[kind]}
      </span>
      <div className="min-w-0 flex-1">
        <StepText step={step} />
      </div>
      {outcome !== undefined && outcome !== "completed" && (
        <Pill tone="bad" className="max-w-40">
          <span className="truncate">{outcome}</span>
        </Pill>
      )}
    </li>
  );
}

function StepText({ step: { kind, title, text } }: { readonly step: TrialStep }) {
  const [isOpen, setOpen] = useState(false);
  const isSpeech = kind === "user" || kind === "message" || kind === "error";
  const all = isSpeech ? (text ?? title) : title;
  if (text === undefined || text === title || isSpeech)
    return (
      <div dir="auto" className={cx("break-words whitespace-pre-wrap", kind === "note" && "text-muted")}>
        <LongText text={all} />
      </div>
    );
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex max-w-full items-center gap-1 text-left hover:text-accent"
        onClick={() => setOpen(!isOpen)}
      >
        <Chevron isOpen={isOpen} />
        <span dir="auto" className={cx("truncate", kind === "tool" && "font-mono text-xs")}>
          {title}
        </span>
      </button>
      {isOpen && (
        <div className="mt-1 overflow-hidden rounded-md border border-line bg-surface p-2">
          <FoldedText text={text} />
        </div>
      )}
    </>
  );
}

const MAX_OPEN = 1_200;

function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= MAX_OPEN) return text;
  return (
    <>
      {text.slice(0, MAX_OPEN)}…{" "}
      <button type="button" className="text-accent hover:underline" onClick={() => setWhole(true)}>
        all {thousands(text.length)} characters
      </button>
    </>
  );
}
