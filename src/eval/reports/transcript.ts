import type { TrialRun, TrialStep } from "../../core/suite-run.ts";

/** Steps that follow each other on one thread. */
export interface Passage {
  readonly thread: string;
  readonly steps: readonly TrialStep[];
}

/** What happened, in passages of one thread each: subagents may work side by side. */
export function passagesOf(steps: readonly TrialStep[]): readonly Passage[] {
  const passages: { thread: string; steps: TrialStep[] }[] = [];
  for (const step of steps) {
    const last = passages.at(-1);
    if (last?.thread === step.thread) last.steps.push(step);
    else passages.push({ thread: step.thread, steps: [step] });
  }
  return passages;
}

/** A line for each step; those of subagents stand further in. */
export function transcriptText({ steps }: Pick<TrialRun, "steps">): string {
  return steps
    .map(({ thread, kind, title, outcome }) => {
      const what = `${kind === "message" ? "agent" : kind}: ${title}${outcome === undefined ? "" : ` [${outcome}]`}`;
      return thread === "main" ? what : `    ${thread} | ${what}`;
    })
    .join("\n");
}
