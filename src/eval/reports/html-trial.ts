import type { TrialRun, TrialStep, GraderVerdict } from "../../core/suite/suite-run.ts";
import { changedFiles, inputTokens, type Passage, passagesOf, WHO } from "../../core/suite/suite-run-words.ts";
import { count, duration, money, thousands } from "../../words/amounts.ts";
import { diffBlock, fold, listSection, textSection } from "./html-parts.ts";
import { type Html, markup } from "./html-text.ts";

/** Longer texts of a transcript are collapsed. */
const MAX_OPEN = 1_200;

/** Everything known about a trial. Explanations of a failure are open. */
export function trialBody(trial: TrialRun): Html {
  const { drifts, verdicts, error, text } = trial;
  return markup`${facts(trial)}
    ${error === undefined ? undefined : markup`<div class="trouble"><strong>The trial could not run or be graded.</strong><p class="said">${error}</p></div>`}
    ${listSection(markup`<h4>Graders</h4>`, "verdicts", verdicts.toSorted(failedFirst).map(verdictItem))}
    ${listSection(markup`<h4>Drift from the cassette</h4>`, "verdicts", drifts.map(driftItem))}
    ${text === "" ? undefined : markup`<h4>Final answer</h4><blockquote class="said" tabindex="0">${text}</blockquote>`}
    ${folds(trial)}`;
}

/** Long parts. */
function folds({ status, output, changes, steps, ignored }: TrialRun): readonly (Html | undefined)[] {
  const open = status !== "passed";
  return [
    ignored.length === 0
      ? undefined
      : fold(
          markup`Ignored differences <span class="dim">${count(ignored.length, "request")}</span>`,
          markup`${ignored.map(ignoredItem)}`,
        ),
    output === undefined
      ? undefined
      : fold("Structured output", textSection(JSON.stringify(output, null, 2), "Structured output")),
    changes === ""
      ? undefined
      : fold(
          markup`Workspace changes <span class="dim">${changedFiles(changes)}</span>`,
          diffBlock(changes, "Workspace changes"),
          { open },
        ),
    steps.length === 0
      ? undefined
      : fold(markup`Transcript <span class="dim">${count(steps.length, "step")}</span>`, transcript(steps), { open }),
  ];
}

function facts({ stopReason, usd, judgeUsd, tokens, requests, durationMs, sessionId }: TrialRun): Html {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["Cost", usd === null ? "unknown" : money(usd)],
    ["Judges", judgeUsd === 0 ? undefined : money(judgeUsd)],
    ["Tokens", `${thousands(inputTokens(tokens))} in, ${thousands(tokens.output)} out`],
    ["Requests", thousands(requests)],
    ["Time", duration(durationMs)],
    ["Stop reason", stopReason ?? undefined],
    ["Session", sessionId ?? undefined],
  ];
  return markup`<dl class="facts">
    ${rows.map(([name, value]) =>
      value === undefined ? undefined : markup`<div><dt>${name}</dt><dd>${value}</dd></div>`,
    )}
  </dl>`;
}

function failedFirst(a: GraderVerdict, b: GraderVerdict): number {
  return Number(a.passed) - Number(b.passed);
}

function verdictItem({ grader, passed, score, message, diff }: GraderVerdict): Html {
  const isShare = score > 0 && score < 1;
  const outcome = passed ? "passed" : "failed";
  return markup`<li class="${outcome}">
    <div class="line">
      <span class="mark" role="img" aria-label="${outcome}">${passed ? "✓" : "✕"}</span>
      <strong>${grader}</strong>
      ${isShare ? markup`<span class="dim">score ${score.toFixed(2)}</span>` : undefined}
    </div>
    <p class="said">${message}</p>
    ${diff === undefined || diff === "" ? undefined : diffBlock(diff, `Difference found by ${grader}`)}
  </li>`;
}

function ignoredItem({ thread, ordinal, kinds, diff }: TrialRun["ignored"][number]): Html {
  return markup`<p>${kinds.join(", ")} <span class="dim">request ${ordinal} of ${thread}</span></p>
    ${diffBlock(diff, `Ignored in request ${ordinal}`)}`;
}

function driftItem({ thread, ordinal, what, summary, diff }: TrialRun["drifts"][number]): Html {
  return markup`<li class="failed">
    <div class="line">
      <span class="mark" role="img" aria-label="drift">≠</span>
      <strong>${what}</strong>
      <span class="dim">request ${ordinal} of ${thread}</span>
    </div>
    <p class="said">${summary}</p>
    ${diff === "" ? undefined : diffBlock(diff, `Drift of ${what}`)}
  </li>`;
}

function transcript(steps: readonly TrialStep[]): Html {
  return markup`<ol class="transcript">
    ${passagesOf(steps).map(passageItems)}
  </ol>`;
}

function passageItems({ thread, steps }: Passage): Html {
  if (thread === "main") return markup`${steps.map(stepItem)}`;
  return markup`<li class="subagent">
    <div class="who">subagent <strong>${thread}</strong></div>
    <ol class="transcript">
      ${steps.map(stepItem)}
    </ol>
  </li>`;
}

function stepItem(step: TrialStep): Html {
  const { kind, outcome } = step;
  const isTold = outcome !== undefined && outcome !== "completed";
  return markup`<li class="step ${kind}">
    <span class="kind">${WHO[kind]}</span>
    <div class="what">${stepText(step)}</div>
    ${isTold ? markup`<span class="badge failed">${outcome}</span>` : undefined}
  </li>`;
}

function stepText({ kind, title, text }: TrialStep): Html {
  if (text === undefined || text === title) return markup`<p class="said">${title}</p>`;
  const isSpeech = kind === "user" || kind === "message" || kind === "error";
  if (isSpeech && text.length <= MAX_OPEN) return markup`<p class="said">${text}</p>`;
  return markup`<details>
    <summary>${kind === "tool" ? callTitle(title) : title}</summary>
    ${textSection(text, `${WHO[kind]}: full text`)}
  </details>`;
}

/** Shows the tool's name before its input. */
function callTitle(title: string): Html {
  const end = title.indexOf(" ");
  return end === -1 ? markup`${title}` : markup`<strong>${title.slice(0, end)}</strong>${title.slice(end)}`;
}
