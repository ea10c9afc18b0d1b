import type { TrialRun } from "../../core/suite/suite-run.ts";

/** One line for each step; those of subagents are indented. */
export function transcriptText({ steps }: Pick<TrialRun, "steps">): string {
  return steps
    .map(({ thread, kind, title, outcome }) => {
      const what = `${kind === "message" ? "agent" : kind}: ${title}${outcome === undefined ? "" : ` [${outcome}]`}`;
      return thread === "main" ? what : `    ${thread} | ${what}`;
    })
    .join("\n");
}
