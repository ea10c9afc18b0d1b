import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { HTML_REPORT_POLICY, htmlReport } from "../../src/eval/reports/html.ts";
import { richRun, sampleCase, sampleRun, sampleSuite, sampleTrial, withTexts } from "../support/suite-run.ts";

/** The names of the tags, in order. */
function tagsOf(page: string): readonly string[] {
  return [...page.replace(/<style>[\s\S]*?<\/style>/, "").matchAll(/<(\/?[a-z!][\w-]*)/gi)].map(
    ([, name = ""]) => name,
  );
}

const PIECES = [
  "<",
  ">",
  "/",
  "script",
  "img",
  '"',
  "'",
  "&",
  "=",
  " onload",
  "\n",
  "<!--",
  "-->",
  "\0",
  "\uD800",
  "é",
  "</pre>",
  "${x}",
];

test("no tag, attribute or character reference of a text survives, wherever it stands", () => {
  const run = richRun();
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      const harmless = text.replaceAll(/[<>&"'=]/g, "x");
      expect(tagsOf(htmlReport(withTexts(run, text)))).toEqual(tagsOf(htmlReport(withTexts(run, harmless))));
    }),
    { numRuns: 150 },
  );
  const page = htmlReport(withTexts(run, `<script>alert(1)</script><img src=x onerror="alert(2)">&amp;`));
  expect(page).not.toMatch(/<script|<img|<iframe|<link|javascript:/i);
  expect(page).toContain(
    "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&quot;alert(2)&quot;&gt;&amp;amp;",
  );
});

test("the page may load nothing and run nothing; its own style is let through", () => {
  const page = htmlReport(richRun());
  const [, style = ""] = /<style>([^<]*)<\/style>/.exec(page) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
  expect(policy).toBe(`default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`);
  expect(HTML_REPORT_POLICY).toBe(`${policy}; frame-ancestors 'none'`);
  expect(page).not.toMatch(/\sstyle=|\son\w+=|https?:/);
  const targets = [...page.matchAll(/href="([^"]*)"/g)].map(([, target = ""]) => target);
  for (const target of targets) expect(page).toContain(`id="${target.slice(1)}"`);
});

test("all that happened is on the page", () => {
  const run = richRun();
  const page = htmlReport(run);
  const told = (text: string): void => expect(page).toContain(text.replaceAll('"', "&quot;").replaceAll("'", "&#39;"));
  for (const { suite, cases, gates, regressions } of run.suites) {
    told(suite);
    for (const { message } of [...gates, ...regressions]) told(message);
    for (const { case: name, reason = "", trials } of cases) {
      told(name);
      told(reason);
      for (const { verdicts, drifts, steps, error = "", text } of trials) {
        for (const { grader, message } of verdicts) [grader, message].forEach(told);
        for (const { summary } of drifts) told(summary);
        for (const { kind, title } of steps) if (kind !== "tool") told(title);
        told(error);
        told(text);
      }
    }
  }
  run.problems.forEach(told);
  expect(page).toContain('<span class="removed">-  return items');
  expect(page).toContain("subagent <strong>safety</strong>");
  expect(page).toContain("pass@k");
  expect(page).toContain("≥ $0.23");
  expect(page).toContain("not billed");
});

test("what failed stands open, and what passed does not", () => {
  const page = htmlReport(richRun());
  const opened = [...page.matchAll(/<details class="case (\w+)" id="[\w-]+"( open)?>/g)].map(
    ([, status, open]) => `${status}${open ?? ""}`,
  );
  expect(opened).toEqual(["passed", "failed open", "passed", "error open", "not_run", "passed", "skipped"]);
});

test("a run without trouble says so, and has nothing to look at", () => {
  const page = htmlReport(sampleRun({ mode: "live" }));
  expect(page).toContain("<h1>Passed</h1>");
  expect(page).not.toContain("To look at");
  expect(page).not.toContain("not billed");
});

test("many trials make a table of few columns", () => {
  const chances = Object.fromEntries(Array.from({ length: 700 }, (_, index) => [index + 1, 0.5]));
  const trials = [sampleTrial(), sampleTrial({ trial: 2 })];
  const page = htmlReport(
    sampleRun({
      suites: [sampleSuite("s", { cases: [sampleCase("c", { trials, passAt: chances, passAll: chances })] })],
    }),
  );
  expect([...page.matchAll(/k = (\d+)/g)].map(([, k]) => Number(k))).toEqual([
    1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 700,
  ]);
});
