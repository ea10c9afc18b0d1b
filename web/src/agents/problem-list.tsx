import type { RefObject } from "react";
import type { TextProblem } from "./agent-text.ts";

/** Problems of a text; each line number selects its line. */
export function ProblemList({
  problems,
  area,
}: {
  readonly problems: readonly TextProblem[];
  readonly area: RefObject<HTMLTextAreaElement | null>;
}) {
  return (
    <div role="alert" className="rounded-lg border border-bad/40 bg-bad-soft p-3 text-sm">
      <ul className="flex flex-col gap-1">
        {problems.map(({ line, field, text }) => (
          <li key={`${field ?? ""} ${line ?? 0} ${text}`} className="flex gap-2">
            {line !== undefined && (
              <button
                type="button"
                className="h-5 shrink-0 text-xs font-medium text-accent underline"
                onClick={() => showLine(area.current, line)}
              >
                line {line}
              </button>
            )}
            <span className="min-w-0 break-words">
              {field !== undefined && <code className="font-mono text-xs font-medium">{field}: </code>}
              {text}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function showLine(area: HTMLTextAreaElement | null, line: number): void {
  if (area === null) return;
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = ((line - 3) / lines.length) * area.scrollHeight;
}
