import { Check, Minus } from "lucide-react";
import type { WireExplanation } from "../../../src/client/index.ts";
import { Card } from "../parts/page.tsx";
import { cx } from "../parts/cx.ts";
import { BehaviorPill, ModePill } from "./modes.tsx";
import { describeSubject } from "./describe-subject.ts";

/** A decision and how it was made. */
export function ExplanationView({ explanation }: { readonly explanation: WireExplanation }) {
  const { call, behavior, decided_by: by, reason, mode, steps, remembers, rememberable, subject } = explanation;
  const lines = describeSubject(subject);
  return (
    <Card className="flex flex-col">
      <div role="status" className="flex flex-col gap-2 border-b border-line p-3">
        <p className="flex flex-wrap items-center gap-2 text-sm">
          <code dir="ltr" className="font-mono text-xs font-medium break-all">
            {call}
          </code>
          <span className="text-muted">would be</span>
          <BehaviorPill behavior={behavior} />
        </p>
        <p className="text-sm break-words">{reason}</p>
        <p className="flex flex-wrap items-center gap-2 text-xs text-muted">
          decided by <code className="font-mono break-all text-text">{by}</code> in mode <ModePill mode={mode} />
        </p>
      </div>
      <div className="grid gap-4 p-3 md:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-2">
          <h3 className="text-sm font-medium">Steps</h3>
          <ol className="flex flex-col gap-1 text-sm">
            {steps.map(({ step, found }, index) => {
              const isLast = index === steps.length - 1;
              return (
                <li key={step} className="flex gap-2">
                  {isLast ? (
                    <Check className="mt-0.5 size-4 shrink-0 text-accent" aria-hidden />
                  ) : (
                    <Minus className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden />
                  )}
                  <span className="min-w-0 break-words">
                    <span className={cx(isLast && "font-medium")}>{step}</span>
                    <span className="text-muted">: {found}</span>
                  </span>
                </li>
              );
            })}
          </ol>
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <div className="flex flex-col gap-2">
            <h3 className="text-sm font-medium">What the call does</h3>
            {lines.length === 0 && <p className="text-sm text-muted">Only the tool is known: {subject.tool}.</p>}
            {lines.map(({ what, items }) => (
              <div key={what} className="text-sm">
                <p className="text-xs text-muted">{what}</p>
                <ul>
                  {items.map((item) => (
                    <li key={item} dir="ltr" className="font-mono text-xs leading-5 break-all">
                      {item}
                    </li>
                  ))}
                </ul>
              </div>
            ))}
            <p className="text-xs text-muted">
              {subject.inside
                ? "All named paths are inside the workspace."
                : "It reaches, or may reach, outside the workspace."}
            </p>
          </div>
          {behavior === "ask" && (
            <div className="flex flex-col gap-2">
              <h3 className="text-sm font-medium">Rules that a remembered answer would save</h3>
              {!rememberable && <p className="text-sm text-muted">None: this always requires approval.</p>}
              {rememberable && remembers.length === 0 && (
                <p className="text-sm text-muted">No suggested rule is narrow enough. Write one when you answer.</p>
              )}
              <ul>
                {remembers.map((rule) => (
                  <li key={rule} className="font-mono text-xs leading-5 break-all">
                    {rule}
                  </li>
                ))}
              </ul>
            </div>
          )}
        </div>
      </div>
    </Card>
  );
}
