import type { CaseRun, SuiteResult, TrialRun } from "../../core/suite/suite-run.ts";
import { casesSummary } from "../../core/suite/suite-run-summary.ts";
import { timeOf } from "../../core/suite/suite-run-words.ts";
import { count, duration, percent } from "../../words/amounts.ts";
import { badge, fold, listSection, OPEN } from "./html-parts.ts";
import { type Html, markup } from "./html-text.ts";
import { trialBody } from "./html-trial.ts";
import { passedOf, priceText } from "./words.ts";

/** The anchor of a case. Not its name, which may contain anything and occur twice. */
export function caseAnchor(suite: number, index: number): string {
  return `case-${suite + 1}-${index + 1}`;
}

export function suiteSection(suite: SuiteResult, index: number): Html {
  const { cases, gates, regressions } = suite;
  const summary = casesSummary(cases);
  return markup`<section class="suite" aria-labelledby="suite-${index + 1}">
    <header>
      <h2 id="suite-${index + 1}">${suite.suite}</h2>
      <p class="dim">
        ${suite.file} · agent <strong>${suite.agent}</strong> <code>${suite.agentHash.slice(0, 12)}</code> ·
        ${summary.counts.passed} of ${count(summary.cases, "case")} passed · ${priceText(summary)}
      </p>
    </header>
    ${listSection(markup`<h3>Gates</h3>`, "gates", gates.map(gateItem))}
    ${listSection(markup`<h3>Worse than the baseline</h3>`, "gates", regressions.map(regressionItem))}
    <h3>Cases</h3>
    <div class="cases">${cases.map((one, place) => caseDetails(one, caseAnchor(index, place)))}</div>
  </section>`;
}

function gateItem({ gate, passed, message }: SuiteResult["gates"][number]): Html {
  return markup`<li>
    ${badge(passed ? "passed" : "failed")} <span><strong>${gate}</strong> ${message}</span>
  </li>`;
}

function regressionItem({ what, case: name, message }: SuiteResult["regressions"][number]): Html {
  return markup`<li>
    <span class="badge failed"><span aria-hidden="true">▲</span> ${what}</span>
    <span>${name === undefined ? undefined : markup`<strong>${name}</strong> `}${message}</span>
  </li>`;
}

function caseDetails(one: CaseRun, anchor: string): Html {
  const { status, tags, trials } = one;
  const isBad = status === "failed" || status === "error";
  const summary = casesSummary([one]);
  const passed = trials.length > 1 ? markup`<span>trials ${passedOf(one)}</span>` : undefined;
  const numbers = markup`${passed}<span>${priceText(summary)}</span><span>${duration(timeOf(one))}</span>`;
  return markup`<details class="case ${status}" id="${anchor}"${isBad ? OPEN : undefined}>
    <summary>
      ${badge(status)}
      <span class="name">${one.case}</span>
      <span class="tags">${tags.map((tag) => markup`<span class="tag">${tag}</span>`)}</span>
      ${trials.length === 0 ? undefined : markup`<span class="numbers">${numbers}</span>`}
    </summary>
    <div class="inside">${caseBody(one)}</div>
  </details>`;
}

function caseBody(one: CaseRun): Html {
  const { status, reason = "no reason given", trials } = one;
  const [only, ...more] = trials;
  if (only === undefined)
    return markup`<p class="why said">${status === "skipped" ? "Skipped" : "Not run"}: ${reason}</p>`;
  if (more.length === 0) return trialBody(only);
  return markup`${chances(one)}${trials.map(trialFold)}`;
}

function trialFold(trial: TrialRun): Html {
  const title = markup`${badge(trial.status)} Trial ${trial.trial}
    <span class="dim">${duration(trial.durationMs)}</span>`;
  return fold(title, trialBody(trial), { open: trial.status !== "passed" });
}

/** A table of a thousand columns would be unreadable. */
const SHOWN_K: ReadonlySet<string> = new Set(["1", "2", "3", "4", "5", "10", "20", "50", "100", "200", "500"]);

/** The probability that one of k trials passes, and that all do. */
function chances({ passAt, passAll, needed }: CaseRun): Html {
  const all = Object.keys(passAt);
  const ks = all.filter((k, index) => SHOWN_K.has(k) || index === all.length - 1);
  const row = (name: string, of: Readonly<Record<string, number>>): Html =>
    markup`<tr>
      <th scope="row">${name}</th>
      ${ks.map((k) => markup`<td>${percent(of[k] ?? 0)}</td>`)}
    </tr>`;
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="Chances to pass">
    <table class="chances">
      <caption>${percent(needed)} of the trials must pass</caption>
      <thead>
        <tr>
          <th scope="col">of k trials</th>
          ${ks.map((k) => markup`<th scope="col">k = ${k}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${row("one passes (pass@k)", passAt)}${row("all pass (pass^k)", passAll)}
      </tbody>
    </table>
  </div>`;
}
