import type { CaseRun, SuiteResult, SuiteRun, TrialRun } from "../../core/suite/suite-run.ts";
import { casesSummary } from "../../core/suite/suite-run-summary.ts";
import { inputTokens, timeOf } from "../../core/suite/suite-run-words.ts";
import { escapeMarkup } from "./printable.ts";
import { transcriptText } from "./transcript.ts";
import { acceptedDrift, ignoredVariation, passedOf, whyNot } from "./words.ts";

/** One entry of a suite in CI: a case, or a gate, the baseline or a problem, which would otherwise not be visible. */
interface Test {
  readonly classname: string;
  readonly name: string;
  readonly file: string;
  readonly seconds: number;
  readonly properties: readonly Property[];
  readonly result: Result | undefined;
  readonly output: string;
}

interface Result {
  readonly element: "failure" | "error" | "skipped";
  readonly type: string;
  readonly message: string;
  readonly text: string;
}

type Property = readonly [name: string, value: string | number];

/** In the format of CI systems. Trials are in the text of their case. */
export function junitReport(run: SuiteRun): string {
  const suites = run.suites.map((suite) => suiteXml(suite, run));
  const problems = problemTests(run);
  if (problems.length > 0) suites.push(testsuite("capstan", problems, { run, properties: [] }));
  const all = [...run.suites.flatMap((suite) => testsOf(suite)), ...problems];
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="capstan test"${numbers(all)}${attribute("time", run.durationMs / 1_000)}>
${suites.join("\n")}
</testsuites>
`;
}

function suiteXml(suite: SuiteResult, run: SuiteRun): string {
  const { usd, tokens, requests, trials } = casesSummary(suite.cases);
  return testsuite(suite.suite, testsOf(suite), {
    run,
    file: suite.file,
    properties: [
      ["agent", suite.agent],
      ["agent_hash", suite.agentHash],
      ["mode", run.mode],
      ["run", run.id],
      ["capstan", run.capstan],
      ["sdk", run.sdk],
      ["trials", trials],
      ...spending({ usd, tokens, requests }),
    ],
  });
}

function testsuite(
  name: string,
  tests: readonly Test[],
  {
    run,
    file,
    properties,
  }: { readonly run: SuiteRun; readonly file?: string; readonly properties: readonly Property[] },
): string {
  const seconds = tests.reduce((sum, test) => sum + test.seconds, 0);
  // Schemas of the format allow no fractions and no time zone.
  const timestamp = attribute("timestamp", run.startedAt.slice(0, 19));
  const place = file === undefined ? "" : attribute("file", file);
  return [
    `  <testsuite${attribute("name", name)}${numbers(tests)}${attribute("time", seconds)}${timestamp}${place}>`,
    ...propertiesXml(properties, "    "),
    ...tests.map(testXml),
    "  </testsuite>",
  ].join("\n");
}

function testsOf(suite: SuiteResult): readonly Test[] {
  const common = { classname: suite.suite, file: suite.file, seconds: 0, properties: [], output: "" };
  return [
    ...suite.cases.map((one) => caseTest(one, suite)),
    ...suite.gates.map(({ gate, passed, message }): Test => ({
      ...common,
      name: `gate: ${gate}`,
      result: passed ? undefined : { element: "failure", type: "gate", message, text: message },
    })),
    ...suite.regressions.map(({ what, case: name, message }): Test => ({
      ...common,
      name: `baseline: ${name === undefined ? what : `${name}: ${what}`}`,
      result: { element: "failure", type: "regression", message, text: message },
    })),
  ];
}

function problemTests({ problems }: SuiteRun): readonly Test[] {
  return problems.map((problem, index): Test => ({
    classname: "capstan",
    name: `problem ${index + 1}`,
    file: "",
    seconds: 0,
    properties: [],
    result: { element: "error", type: "problem", message: firstLine(problem), text: problem },
    output: "",
  }));
}

function caseTest(one: CaseRun, { suite, file }: SuiteResult): Test {
  return {
    classname: suite,
    name: one.case,
    file,
    seconds: timeOf(one) / 1_000,
    properties: [
      ["trials_passed", passedOf(one)],
      ...one.tags.map((tag): Property => ["tag", tag]),
      ...spending(casesSummary([one])),
    ],
    result: resultOf(one),
    output: one.trials.map((trial) => trialText(trial, one.trials.length)).join("\n\n"),
  };
}

function resultOf({ status, reason = "", trials }: CaseRun): Result | undefined {
  if (status === "passed") return undefined;
  if (status === "skipped") return { element: "skipped", type: status, message: reason, text: "" };
  // CI systems hide skipped tests, so a case that was not run is an error.
  if (status === "not_run") return { element: "error", type: status, message: `Not run: ${reason}`, text: reason };
  const bad = trials.filter((trial) => trial.status !== "passed");
  // First explain why the case is an error, then what else failed.
  const [first] = bad.toSorted((a, b) => Number(b.status === status) - Number(a.status === status));
  return {
    element: status === "error" ? "error" : "failure",
    type: status,
    message: first === undefined ? status : firstLine(whyNot(first)),
    text: bad.map(badTrialText).join("\n\n"),
  };
}

function badTrialText({ trial, error, verdicts }: TrialRun): string {
  const failed = verdicts.filter(({ passed }) => !passed);
  return [
    `Trial ${trial}`,
    ...(error === undefined ? [] : [error]),
    ...failed.map(({ grader, message, diff }) => `${grader}: ${message}${diff === undefined ? "" : `\n${diff}`}`),
  ].join("\n");
}

function trialText(trial: TrialRun, of: number): string {
  const drift = acceptedDrift([trial]);
  const ignored = ignoredVariation([trial]);
  return [
    `Trial ${trial.trial} of ${of}: ${trial.status}${trial.sessionId === null ? "" : ` (session ${trial.sessionId})`}`,
    ...(drift === undefined ? [] : [drift]),
    ...(ignored === undefined ? [] : [ignored]),
    ...(trial.steps.length === 0 ? [] : [transcriptText(trial)]),
    ...(trial.changes === "" ? [] : ["Workspace changes:", trial.changes]),
  ].join("\n");
}

function spending({
  usd,
  tokens,
  requests,
}: {
  readonly usd: number;
  readonly tokens: TrialRun["tokens"];
  readonly requests: number;
}): readonly Property[] {
  return [
    ["usd", usd.toFixed(6)],
    ["input_tokens", inputTokens(tokens)],
    ["output_tokens", tokens.output],
    ["model_requests", requests],
  ];
}

function testXml({ classname, name, file, seconds, properties, result, output }: Test): string {
  const place = file === "" ? "" : attribute("file", file);
  const open = `    <testcase${attribute("classname", classname)}${attribute("name", name)}${attribute("time", seconds)}${place}`;
  const inner = [
    ...propertiesXml(properties, "      "),
    ...(result === undefined ? [] : [`      ${resultXml(result)}`]),
    ...(output === "" ? [] : [`      <system-out>${inXml(output)}</system-out>`]),
  ];
  return inner.length === 0 ? `${open}/>` : [`${open}>`, ...inner, "    </testcase>"].join("\n");
}

function resultXml({ element, type, message, text }: Result): string {
  if (element === "skipped") return `<skipped${attribute("message", message)}/>`;
  return `<${element}${attribute("type", type)}${attribute("message", message)}>${inXml(text)}</${element}>`;
}

function propertiesXml(properties: readonly Property[], indent: string): readonly string[] {
  if (properties.length === 0) return [];
  return [
    `${indent}<properties>`,
    ...properties.map(
      ([name, value]) => `${indent}  <property${attribute("name", name)}${attribute("value", value)}/>`,
    ),
    `${indent}</properties>`,
  ];
}

function numbers(tests: readonly Test[]): string {
  const of = (element: Result["element"]): number => tests.filter(({ result }) => result?.element === element).length;
  return (
    attribute("tests", tests.length) +
    attribute("failures", of("failure")) +
    attribute("errors", of("error")) +
    attribute("skipped", of("skipped"))
  );
}

function attribute(name: string, value: string | number): string {
  const text = typeof value === "number" && !Number.isInteger(value) ? value.toFixed(3) : String(value);
  // A parser converts line ends and tabs in attributes to spaces, unless they are written as numbers.
  return ` ${name}="${inXml(text).replaceAll("\n", "&#10;").replaceAll("\t", "&#9;")}"`;
}

/** A parser converts other line ends to line feeds, unless they are written as numbers. */
function inXml(text: string): string {
  return escapeMarkup(text).replaceAll("\r", "&#13;");
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
