import { CircleCheck, CircleX } from "lucide-react";
import { useState } from "react";
import { casesSummary } from "../../../src/protocol/api/suite-run-facts.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/page.tsx";
import { CaseView } from "./case-view.tsx";
import { listedCount, type PlacedSuite } from "./placed-cases.ts";
import { countsText, priceOf } from "./run-facts.ts";
import { thousands } from "../../../src/words/amounts.ts";

/** One suite of a run, with its matching cases. */
export function SuiteView({
  placed: { anchor, suite, cases },
  open,
  wanted,
  onToggle,
}: {
  readonly placed: PlacedSuite;
  readonly open: ReadonlySet<string>;
  /** The case in the URL. */
  readonly wanted: string | undefined;
  readonly onToggle: (anchor: string) => void;
}) {
  const [pages, setPages] = useState(1);
  const shown = cases.slice(0, listedCount(cases, pages, wanted));
  const sums = casesSummary(suite.cases);
  return (
    <section id={anchor} className="flex scroll-mt-4 flex-col gap-2">
      <div>
        <h2 dir="auto" className="text-lg font-semibold break-words">
          {suite.suite}
        </h2>
        <p className="text-sm break-words text-muted">
          <bdi>{suite.file}</bdi> · agent <bdi>{suite.agent}</bdi>{" "}
          <code className="font-mono text-xs text-faint">{suite.agentHash.slice(0, 12)}</code> ·{" "}
          {countsText(sums.counts)} · {priceOf(sums)}
        </p>
      </div>
      {suite.gates.length > 0 && (
        <ul aria-label="Gates" className="flex flex-col gap-1 text-sm">
          {suite.gates.map(({ gate, passed, message }) => (
            <li key={gate} className="flex gap-2">
              {passed ? (
                <CircleCheck role="img" aria-label="passed" className="mt-0.5 size-4 shrink-0 text-good" />
              ) : (
                <CircleX role="img" aria-label="missed" className="mt-0.5 size-4 shrink-0 text-bad" />
              )}
              <span className="min-w-0 break-words">
                <strong className="font-medium">gate {gate}</strong> <bdi className="text-muted">{message}</bdi>
              </span>
            </li>
          ))}
        </ul>
      )}
      <Card className="overflow-hidden">
        <ul className="divide-y divide-line">
          {shown.map((one) => (
            <CaseView key={one.anchor} placed={one} isOpen={open.has(one.anchor)} onToggle={onToggle} />
          ))}
        </ul>
        {shown.length < cases.length && (
          <div className="flex justify-center border-t border-line p-2">
            <Button small onClick={() => setPages(Math.ceil(shown.length / 100) + 1)}>
              Show more of {thousands(cases.length)} cases
            </Button>
          </div>
        )}
      </Card>
    </section>
  );
}
