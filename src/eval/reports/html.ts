import { createHash } from "node:crypto";
import type { SuiteRun } from "../../core/suite/suite-run.ts";
import { CASE_STATUSES, type RunSummary, runSummary } from "../../core/suite/suite-run-summary.ts";
import { inputTokens, runOutcome, priceNote, STATUS_WORDS } from "../../core/suite/suite-run-words.ts";
import { count, duration, thousands } from "../../words/amounts.ts";
import { badge } from "./html-parts.ts";
import { STYLE } from "./html-style.ts";
import { caseAnchor, suiteSection } from "./html-suite.ts";
import { Html, markup } from "./html-text.ts";
import { moment, priceText, whyNot } from "./words.ts";

/** Allows only the page's own style: an agent's text can load and run nothing, even if it were not escaped. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'`;
/** For a server's header: a page itself cannot restrict who may frame it. */
export const HTML_REPORT_POLICY = `${POLICY}; frame-ancestors 'none'`;

/** One file that opens offline. */
export function htmlReport(run: SuiteRun): string {
  const summary = runSummary(run);
  const outcome = runOutcome(run);
  const page = markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${new Html(POLICY)}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${outcome}: ${summary.counts.passed} of ${count(summary.cases, "case")} · Capstan</title>
        <style>${new Html(STYLE)}</style>
      </head>
      <body>
        <a class="skip" href="#suites">To the suites</a>
        <header class="top ${run.exitCode === 0 ? "good" : "bad"}">
          <div class="wide">
            <p class="brand">Capstan test report</p>
            <h1>${outcome}</h1>
            <p class="when">${runLine(run)}</p>
          </div>
        </header>
        <main class="wide">
          <section aria-label="Totals">${totals(run, summary)}</section>
          ${attention(run)}
          <div id="suites">
            ${summary.counts.passed > 0 && summary.counts.passed < summary.cases ? filter() : undefined}
            ${run.suites.map((suite, index) => suiteSection(suite, index))}
          </div>
        </main>
        <footer class="wide">
          <p>
            Run <code>${run.id}</code> of project <code>${run.project}</code>. Made with Capstan ${run.capstan} and the
            Claude Agent SDK ${run.sdk}. This file needs no network.
          </p>
        </footer>
      </body>
    </html> `;
  return page.source;
}

function runLine({ mode, startedAt, durationMs, exitCode }: SuiteRun): string {
  return `${MODES[mode]} · ${moment(startedAt)} · ${duration(durationMs)} · exit code ${exitCode}`;
}

const MODES: Readonly<Record<SuiteRun["mode"], string>> = {
  record: "Recorded",
  replay: "Replayed from cassettes",
  live: "Live",
  rehearsal: "Rehearsal",
};

function totals(run: SuiteRun, summary: RunSummary): Html {
  const { counts, cases, trials, tokens, requests } = summary;
  return markup`${bar(summary)}
    <ul class="legend">
      ${CASE_STATUSES.filter((status) => counts[status] > 0).map((status) => markup`<li>${badge(status)} <strong>${counts[status]}</strong></li>`)}
    </ul>
    <dl class="tiles">
      ${tile("Cases passed", `${counts.passed} of ${cases}`, count(trials, "trial"))}
      ${tile("Cost", priceText(summary), priceNote(run, summary))}
      ${tile("Tokens", thousands(inputTokens(tokens) + tokens.output), `${thousands(inputTokens(tokens))} in, ${thousands(tokens.output)} out`)}
      ${tile("Time", duration(summary.durationMs), count(requests, "model request"))}
    </dl>`;
}

function tile(name: string, value: string, note: string): Html {
  return markup`<div class="tile">
    <dt>${name}</dt>
    <dd>${value} <small>${note}</small></dd>
  </div>`;
}

/** The shares of the statuses. Widths are attributes of the drawing, because the policy allows no inline styles. */
function bar({ counts, cases }: RunSummary): Html {
  let left = 0;
  const parts = CASE_STATUSES.map((status) => {
    const width = cases === 0 ? 0 : (counts[status] / cases) * 100;
    const part = markup`<rect class="${status}" x="${left}" width="${width}" height="10" />`;
    left += width;
    return part;
  });
  const told = CASE_STATUSES.map((status) => `${counts[status]} ${STATUS_WORDS[status]}`).join(", ");
  return markup`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${told}">
    ${parts}
  </svg>`;
}

/** Shows first what needs attention. */
function attention({ problems, suites }: SuiteRun): Html | undefined {
  const items = [
    ...problems.map(
      (problem) => markup`<li><span class="badge error">problem</span> <span class="said">${problem}</span></li>`,
    ),
    ...suites.flatMap(({ suite, gates, regressions, cases }, index) => [
      ...gates
        .filter(({ passed }) => !passed)
        .map(
          ({ gate, message }) =>
            markup`<li>
              <span class="badge failed">gate</span>
              <span><a href="#suite-${index + 1}">${suite}</a> ${gate}: ${message}</span>
            </li>`,
        ),
      ...regressions.map(({ case: name, message }) => {
        const place = cases.findIndex((one) => one.case === name);
        const anchor = place === -1 ? `suite-${index + 1}` : caseAnchor(index, place);
        return markup`<li>
          <span class="badge failed">baseline</span> <span><a href="#${anchor}">${name ?? suite}</a> ${message}</span>
        </li>`;
      }),
      ...cases.flatMap((one, place) => {
        if (one.status === "passed" || one.status === "skipped") return [];
        const bad = one.trials.find(({ status }) => status === one.status);
        const why = bad === undefined ? (one.reason ?? "") : (whyNot(bad).split("\n", 1)[0] ?? "");
        return [
          markup`<li>
            ${badge(one.status)} <span><a href="#${caseAnchor(index, place)}">${one.case}</a> ${why}</span>
          </li>`,
        ];
      }),
    ]),
  ];
  if (items.length === 0) return undefined;
  return markup`<section class="attention" aria-labelledby="attention">
    <h2 id="attention">To look at</h2>
    <ul class="gates">
      ${items}
    </ul>
  </section>`;
}

function filter(): Html {
  return markup`<p class="filter">
    <label><input type="checkbox" id="hide-passed" /> Hide cases that passed</label>
  </p>`;
}
