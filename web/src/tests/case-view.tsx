import { casesSummary, timeOf } from "../../../src/protocol/api/suite-run-facts.ts";
import { Pill } from "../parts/tone.tsx";
import { Chances } from "./chances.tsx";
import { Chevron, Fold } from "./fold.tsx";
import type { PlacedCase } from "./placed-cases.ts";
import { type CaseRun, passedOf, priceOf, whyNot } from "./run-facts.ts";
import { Status } from "./status.tsx";
import { TrialView } from "./trial-view.tsx";
import { duration } from "../../../src/words/amounts.ts";

/** A case as an expandable row. Its content is rendered when it opens. */
export function CaseView({
  placed: { anchor, case: one },
  isOpen,
  onToggle,
}: {
  readonly placed: PlacedCase;
  readonly isOpen: boolean;
  readonly onToggle: (anchor: string) => void;
}) {
  const why = one.status === "passed" ? "" : whyNot(one);
  return (
    <li id={anchor} className="scroll-mt-4 [contain-intrinsic-size:auto_2.75rem] [content-visibility:auto]">
      <h3>
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => onToggle(anchor)}
          className="flex w-full items-center gap-2 px-3 py-2.5 text-left text-sm hover:bg-sunken/60 focus-visible:-outline-offset-2"
        >
          <Chevron isOpen={isOpen} />
          <span className="w-16 shrink-0">
            <Status of={one.status} />
          </span>
          <span className="min-w-0 flex-1">
            <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <span dir="auto" className="min-w-0 font-medium break-words">
                {one.case}
              </span>
              {one.tags.map((tag) => (
                <Pill key={tag} tone="quiet" className="max-w-40">
                  <span dir="auto" className="truncate" title={tag}>
                    {tag}
                  </span>
                </Pill>
              ))}
            </span>
            {!isOpen && why !== "" && (
              <span dir="auto" className="block truncate text-xs text-muted">
                {why}
              </span>
            )}
          </span>
          {one.trials.length > 0 && (
            <span data-figure className="shrink-0 text-right text-xs text-faint max-sm:hidden">
              {one.trials.length > 1 && `${passedOf(one)} · `}
              {priceOf(casesSummary([one]))} · {duration(timeOf(one))}
            </span>
          )}
        </button>
      </h3>
      {isOpen && (
        <div className="border-t border-line bg-sunken/40 p-3 sm:pl-9">
          <CaseBody one={one} />
        </div>
      )}
    </li>
  );
}

function CaseBody({ one }: { readonly one: CaseRun }) {
  const { status, reason = "no reason given", trials } = one;
  const [only, ...more] = trials;
  if (only === undefined)
    return (
      <p dir="auto" className="text-sm break-words">
        {status === "skipped" ? "Skipped" : "Not run"}: {reason}
      </p>
    );
  if (more.length === 0) return <TrialView trial={only} />;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-muted sm:hidden">{passedOf(one)}</p>
      <Chances one={one} />
      {trials.map((trial) => (
        <Fold
          key={trial.trial}
          open={trial.status !== "passed" && trials.length <= 10}
          note={duration(trial.durationMs)}
          title={
            <>
              <Status of={trial.status} /> Trial {trial.trial}
            </>
          }
        >
          <TrialView trial={trial} />
        </Fold>
      ))}
    </div>
  );
}
