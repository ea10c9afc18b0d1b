import * as fc from "fast-check";
import { marked } from "marked";
import { expect, test } from "vitest";
import { runSummary } from "../../src/core/suite/suite-run-summary.ts";
import { suiteRun } from "../../src/core/suite/suite-run.ts";
import { jsonReport } from "../../src/eval/reports/json.ts";
import { junitReport } from "../../src/eval/reports/junit.ts";
import { markdownReport } from "../../src/eval/reports/markdown.ts";
import { printable } from "../../src/eval/reports/printable.ts";
import { richRun, sampleCase, sampleRun, sampleSuite, sampleTrial, withTexts } from "../support/suite-run.ts";

test("the summary counts cases by status and adds up what they cost", () => {
  const run = richRun();
  expect(suiteRun.parse(run)).toEqual(run);
  expect(runSummary(run)).toEqual({
    suites: ["refactor", "answers"],
    cases: 7,
    counts: { passed: 3, failed: 1, error: 1, not_run: 1, skipped: 1 },
    trials: 7,
    usd: expect.closeTo(0.0132 * 4 + (0.0871 + 0.004) * 2, 9),
    unpricedTrials: 1,
    tokens: { input: 8_428, output: 2_177, cacheRead: 71_680, cacheCreation: 14_336 },
    requests: 21,
    failedGates: 1,
    regressions: 2,
    problems: 1,
    durationMs: 74_300,
  });
});

test("the JSON report is the run, also when it holds half a character", () => {
  const run = withTexts(richRun(), "\uD83D and \0");
  expect(suiteRun.parse(JSON.parse(jsonReport(run)))).toEqual(run);
  expect(Buffer.from(jsonReport(run), "utf8").toString()).toBe(jsonReport(run));
});

test("what XML forbids becomes visible, and everything else stays", () => {
  expect(printable("a\tb\r\nc \u001B[31m\0 \uD800 \uDC00x \uFFFE 😀 ü")).toBe(
    "a\tb\r\nc ␛[31m␀ \uFFFD \uFFFDx \uFFFD 😀 ü",
  );
});

test("JUnit has a test for each case, and says of gates, the baseline and problems what CI would not see", () => {
  const xml = junitReport(richRun());
  const names = [...xml.matchAll(/<testcase classname="(\w+)" name="([^"]*)"/g)].map(
    ([, suite, name]) => `${suite}/${name}`,
  );
  expect(names).toEqual([
    "refactor/moves a function",
    "refactor/counts what is bought more than once",
    "refactor/renames without breaking callers",
    "refactor/survives a killed process",
    "refactor/writes to the suite's own directory",
    "refactor/gate: pass_rate",
    "refactor/gate: usd",
    "refactor/baseline: counts what is bought more than once: usd",
    "refactor/baseline: suite",
    "answers/answers in one sentence",
    "answers/asks before it deletes",
    "capstan/problem 1",
  ]);
  expect(xml).toContain(
    '<testsuites name="capstan test" tests="12" failures="4" errors="3" skipped="1" time="74.300">',
  );
  expect(xml).toContain(
    '<testsuite name="answers" tests="2" failures="0" errors="0" skipped="1" time="4.210" timestamp="2026-03-01T12:00:00" file="suites/answers.test.yaml">',
  );
  expect(xml).toContain(
    '<failure type="failed" message="file src/total.ts: Expected the content of the file as given; found another.">Trial 1\n',
  );
  expect(xml).toContain('<error type="error" message="The trial took too long');
  expect(xml).toContain('<error type="not_run" message="Not run: it works in');
  expect(xml).toContain('<skipped message="waits for the new inbox"/>');
  expect(xml).toContain('<property name="usd" value="0.091100"/>');
  expect(xml).toContain('<property name="input_tokens" value="13492"/>');
  expect(xml).toContain("Trial 2 of 3: failed (session sesn_0002)");
  expect(xml).toContain("    safety | agent: None is checked.");
  expect(xml).toContain("tool: Bash {&quot;command&quot;:&quot;npm test&quot;} [denied]");
});

test("Markdown has the totals, a row for each case, and the reasons folded", () => {
  const text = markdownReport(richRun());
  expect(text).toContain("## ❌ Capstan: failed: not everything could be run\n");
  expect(text).toContain("✅ 3 passed · ❌ 1 failed · ⚠️ 1 error · 🚫 1 not run · ⏭️ 1 skipped");
  expect(text).toContain("≥ $0.23 (list price, not billed; 1 trial of unknown price)");
  expect(text).toContain("| ✅ | `renames without breaking callers` | 2/3 (50% needed) | ≥ $0.10 | 20.3 s |");
  expect(text).toContain("- **Gate** `refactor: pass_rate`: `50 % of the cases passed; at least 90 % must`");
  expect(text).toContain("(skipped: `waits for the new inbox`) | | | |");
  expect(text).toContain(
    "<details><summary>❌ <code>refactor: counts what is bought more than once</code></summary>\n\n```\n",
  );
  expect(text.match(/<details>/g)).toHaveLength(2);
  expect(markdownReport(sampleRun())).not.toContain("What went wrong");
});

/** As a reader of Markdown sees it: the tags, and the text that does not stand in code. */
function renderMarkdown(text: string): { readonly tags: readonly string[]; readonly prose: string } {
  const page = marked.parse(text, { async: false });
  return {
    tags: [...page.matchAll(/<(\/?[a-z!][\w-]*)/gi)].map(([, name = ""]) => name),
    prose: page.replaceAll(/<code[^>]*>[\s\S]*?<\/code>/g, ""),
  };
}

test("in Markdown what others wrote formats nothing, breaks out of nothing and calls nobody", () => {
  const run = richRun();
  const pieces = ["@team", "`", "```", "|", "\n", "<b>", "</details>", "[x](y)", "#1", " ", "\\", "*", "&lt;"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 10 }), (some) => {
      const text = `a${some.join("")}a`;
      const shown = renderMarkdown(markdownReport(withTexts(run, text)));
      expect(shown.tags).toEqual(
        renderMarkdown(markdownReport(withTexts(run, text.replaceAll(/[^\n a-z]/g, "x")))).tags,
      );
      expect(shown.prose).not.toContain("@team");
    }),
    { numRuns: 150 },
  );
});

test("Markdown fits into a comment, however large the run", () => {
  const diff = "+".repeat(80).concat("\n").repeat(500);
  const bad = sampleTrial({
    status: "failed",
    verdicts: [{ grader: "g", passed: false, score: 0, message: "m".repeat(5_000), diff }],
  });
  const cases = Array.from({ length: 300 }, (_, index) =>
    sampleCase(`case ${index} ${"n".repeat(150)}`, { status: index % 2 === 0 ? "failed" : "passed", trials: [bad] }),
  );
  const problems = Array.from({ length: 100 }, (_, index) => `${index} ${"p".repeat(900)}`);
  const run = sampleRun({ exitCode: 2, problems, suites: [sampleSuite("big", { cases })] });
  const text = markdownReport(run);
  for (const one of [text, markdownReport(withTexts(run, "`|".repeat(2_000)))]) expect(one.length).toBeLessThan(65_536);
  expect(text).toMatch(/… and \d+ more, in the other reports\./);
  expect(text).toContain("… and 260 more.");
});

const drift = (ordinal: number, what: string) => ({ thread: "main", ordinal, what, summary: "s", diff: "d" });

test("drift that was accepted is told, and each request once", () => {
  const trials = [
    sampleTrial({ drifts: [drift(1, "tools"), drift(1, "model"), drift(2, "tools")] }),
    sampleTrial({ trial: 2, drifts: [drift(1, "tools")] }),
    sampleTrial({ trial: 3, status: "failed", drifts: [drift(1, "tools")] }),
  ];
  const run = sampleRun({ suites: [sampleSuite("refactor", { cases: [sampleCase("a case", { trials })] })] });
  expect(markdownReport(run)).toContain(
    "- **Drift** `refactor: a case`: 3 requests differ from the cassette (accepted)\n",
  );
  const xml = junitReport(run);
  expect(xml).toContain("Trial 1 of 3: passed (session sesn_0001)\n2 requests differ from the cassette (accepted)\n");
  expect(xml).toContain("Trial 2 of 3: passed (session sesn_0001)\n1 request differs from the cassette (accepted)\n");
  expect(xml.match(/from the cassette/g)).toHaveLength(2);
});
