import { basename, dirname, resolve } from "node:path";
import type { z } from "zod";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { inputValues, type InputValues } from "../../core/agent/agent-inputs.ts";
import { DEFAULT_ENGINE } from "../../core/agent/engine-name.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { Grader } from "../../core/suite/grader-schema.ts";
import { fileNameOf } from "../../core/paths/file-name.ts";
import type { Case, Suite } from "../../core/suite/suite.ts";
import {
  type CaseAsWritten,
  type SuiteAsWritten,
  suiteAsWritten,
  suiteInAgentFile,
} from "../../core/suite/suite-schema.ts";
import { safePattern } from "../../core/redaction/safe-pattern.ts";
import { patternIn } from "../../core/suite/suite-pattern.ts";
import { parseDuration } from "../../core/text/duration.ts";
import type { Environment } from "../project/home.ts";
import type { Flags } from "../settings/layers.ts";
import { type Configuration, loadConfiguration, type Trusting } from "../load.ts";
import { type Problem, problemsOf } from "../yaml/problems.ts";
import { gradersOf } from "./suite-graders.ts";
import { isSuiteFile } from "./suite-names.ts";
import { checkHere, filesOf, fixtureOf, type Note, type Path } from "./suite-workspace.ts";
import { notingReads, readTextFile } from "../yaml/text-file.ts";
import type { JudgedItem } from "../trust/trust-gate.ts";
import { recordedTrust } from "../trust/recorded-trust.ts";
import { requireTrustedSuite, requireWholeAgent } from "../trust/trusted-suite.ts";
import { readYaml, type YamlTree } from "../yaml/yaml-file.ts";

export interface ReadSuite {
  readonly suite: Suite;
  /** The configuration that its agent was loaded with. */
  readonly configuration: Configuration;
  /** The suite, its agent and the project's files that can be trusted. */
  readonly trust: readonly JudgedItem[];
}

/** The default timeout of a trial. */
const TIMEOUT_MS = 300_000;
const NOTHING: CaseAsWritten = { name: "" };

/**
 * Reads a suite, or the one in an agent file, with its agent. An error lists every mistake with its line. Throws
 * `untrusted` if the suite or its agent would change without its untrusted parts.
 */
export async function readSuite(
  file: string,
  environment: Environment,
  trust?: Trusting,
  flags: Pick<Flags, "engine"> = {},
): Promise<ReadSuite> {
  const path = resolve(file);
  const { value: text, files } = notingReads(() => readTextFile(path, { what: "the suite", code: "invalid_suite" }));
  const tree = readYaml(text, { file, code: "invalid_suite" });
  const { written, within } = suiteIn(tree, isSuiteFile(path));
  const agentFile = within.length > 0 ? path : resolve(dirname(path), written.agent ?? "agent.yaml");
  const cwd = dirname(path);
  const configuration = await loadConfiguration({ cwd, environment, flags, agentFile, trust });
  requireWholeAgent(configuration);
  const problems: Problem[] = [];
  const note: Note = (field, what) => void problems.push({ path: field, at: "value", text: what });
  const reading: Reading = {
    path,
    agent: configuration.agent,
    note,
    written,
    graders: sharedGraders(written, path, note),
  };
  const cases = written.cases.map((one, index) => caseOf(one, ["cases", index], reading));
  sameNames(written.cases, problems);
  const gates = gatesOf(written, note);
  if (problems.length > 0)
    throw tree.error(onceEach(problems).map((problem) => ({ ...problem, path: [...within, ...problem.path] })));
  const { home } = configuration;
  const trusting = trust ?? recordedTrust(home);
  const judged = requireTrustedSuite({ path, value: written, files }, trusting, { home, cwd, shell: environment });
  const suite: Suite = {
    name:
      written.suite ?? (within.length > 0 ? configuration.agent.name : basename(path).replace(/\.test\.ya?ml$/, "")),
    file: path,
    agent: configuration.agent,
    get agentHash() {
      return hashOf(configuration.agent);
    },
    environment: configuration.sessionEnvironment,
    programs: configuration.programs,
    judge: written.judge?.model,
    gates,
    margins: written.margins ?? {},
    cases: cases.map((one, index) => ({ ...one, place: `${file}:${tree.lineOf([...within, "cases", index])}` })),
  };
  return { suite, configuration, trust: [...configuration.trust, ...judged] };
}

/** Computed lazily: loading the code takes as long as reading a hundred cases. */
function hashOf(agent: AgentDefinition): string {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(JSON.stringify(agent)).digest("hex").slice(0, 16);
}

/** `within`: its path in the file. */
function suiteIn(tree: YamlTree, isSuite: boolean): { readonly written: SuiteAsWritten; readonly within: Path } {
  if (isSuite) return { written: parsePart(suiteAsWritten, tree, []), within: [] };
  if ((tree.value as { readonly tests?: unknown } | null)?.tests === undefined)
    throw tree.error([
      { path: [], at: "value", text: "expected tests: with cases (found an agent file without them)" },
    ]);
  return { written: parsePart(suiteInAgentFile, tree, ["tests"]), within: ["tests"] };
}

function parsePart<Schema extends z.ZodType>(schema: Schema, tree: YamlTree, within: Path): z.output<Schema> {
  const [key] = within;
  const value = key === undefined ? tree.value : (tree.value as Record<PropertyKey, unknown>)[key];
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error, { schema, value });
  throw tree.error(problems.map((problem) => ({ ...problem, path: [...within, ...problem.path] })));
}

interface Reading {
  readonly path: string;
  readonly agent: AgentDefinition;
  readonly note: Note;
  readonly written: SuiteAsWritten;
  /** Those of `defaults`, which apply to every case. */
  readonly graders: readonly Grader[];
}

/** A problem with `defaults` is found in every case that uses them. */
function onceEach(problems: readonly Problem[]): readonly Problem[] {
  return [...new Map(problems.map((one) => [JSON.stringify([one.path, one.text]), one])).values()];
}

function sharedGraders({ defaults, judge, cases }: SuiteAsWritten, file: string, note: Note): readonly Grader[] {
  const count = Math.min(...cases.map(turnsOf));
  return gradersOf(defaults?.graders ?? [], ["defaults", "graders"], {
    file,
    hasJudge: judge !== undefined,
    turns: { count, whose: "every case has" },
    note,
  });
}

function turnsOf({ turns }: CaseAsWritten): number {
  return turns?.length ?? 1;
}

function caseOf(written: CaseAsWritten, path: Path, reading: Reading): Omit<Case, "place"> {
  const { defaults = {} } = reading.written;
  const own = { ...NOTHING, ...defaults, ...written };
  const note: Note = (field, text) =>
    reading.note([...(isShared(field, written, defaults) ? ["defaults"] : path), ...field], text);
  if ((written.input === undefined) === (written.turns === undefined))
    note(["name"], "expected either input or turns in the case (found both or neither)");
  if (written.workspace === "here") checkHere(written, note);
  const graders = [
    ...reading.graders,
    ...gradersOf(written.graders ?? [], [...path, "graders"], {
      file: reading.path,
      hasJudge: reading.written.judge !== undefined,
      turns: { count: turnsOf(written), whose: "the case has" },
      note: reading.note,
    }),
  ];
  const reason = own.skip === true ? "skip: true" : own.skip || undefined;
  return {
    name: written.name,
    tags: [...new Set([...(defaults.tags ?? []), ...(written.tags ?? [])])],
    engine: own.engine ?? reading.agent.engine ?? DEFAULT_ENGINE,
    trials: own.trials ?? 1,
    passRate: own.pass_rate ?? 1,
    timeoutMs:
      own.timeout === undefined
        ? TIMEOUT_MS
        : attempt(() => parseDuration(own.timeout ?? ""), note, ["timeout"], TIMEOUT_MS),
    workspace: own.workspace ?? "trial",
    fixture:
      own.fixture === undefined ? undefined : fixtureOf(own.fixture, reading.path, (text) => note(["fixture"], text)),
    files: filesOf({ ...defaults.files, ...written.files }, (name, text) => note(["files", name], text)),
    git: own.git ?? false,
    turns: (own.turns ?? (own.input === undefined ? [] : [{ input: own.input }])).map(
      ({ input, interrupt_after: after }) => ({ input, interruptAfter: after && { toolCalls: after.tool_calls } }),
    ),
    answers: [...(written.answers ?? []), ...(defaults.answers ?? [])],
    inputs: inputsOf({ shared: defaults.inputs ?? {}, own: written.inputs ?? {} }, path, reading),
    variables: { ...defaults.variables, ...written.variables },
    graders:
      written.stop_reason === undefined ? graders : [{ kind: "stop_reason", given: written.stop_reason }, ...graders],
    faults: written.faults ?? [],
    ignore: (own.ignore ?? []).map((one, index) => attempt(() => safeEverywhere(one), note, ["ignore", index], /(?!)/)),
    only: written.only ?? false,
    skip: reason,
  };
}

function gatesOf({ gates = {} }: SuiteAsWritten, note: Note): Suite["gates"] {
  const { duration, ...rest } = gates;
  if (duration === undefined) return rest;
  return { ...rest, durationMs: attempt(() => parseDuration(duration), note, ["gates", "duration"], 0) };
}

/** A pattern that finds all matches. */
function safeEverywhere(text: string): RegExp {
  const written = patternIn(text);
  return new RegExp(safePattern(written?.source ?? text).source, `g${written?.flags ?? ""}`);
}

function attempt<Value>(work: () => Value, note: Note, field: Path, otherwise: Value): Value {
  try {
    return work();
  } catch (error) {
    note(field, messageOf(error));
    return otherwise;
  }
}

/** Whether a field of a case, or a file in it, has its value from `defaults`. */
function isShared([field, name]: Path, written: object, defaults: object): boolean {
  const has = (of: object): boolean => {
    const value = (of as Readonly<Record<PropertyKey, unknown>>)[field ?? ""];
    return field === "files" ? Object.hasOwn(value ?? {}, name ?? "") : value !== undefined;
  };
  return !has(written) && has(defaults);
}

interface GivenInputs {
  readonly shared: Readonly<Record<string, unknown>>;
  readonly own: Readonly<Record<string, unknown>>;
}

function inputsOf({ shared, own }: GivenInputs, path: Path, { agent, note }: Reading): InputValues {
  const values = { ...shared, ...own } as InputValues;
  const wrong = inputProblems(agent, values);
  if (wrong.length === 0) return values;
  // Ignore missing inputs, which the case may provide: they are also missing with no inputs at all.
  const missing = inputProblems(agent, {});
  const ofShared = inputProblems(agent, shared as InputValues).filter((one) => !missing.includes(one));
  const tell = (at: Path, problems: readonly string[]): void => {
    if (problems.length > 0) note([...at, "inputs"], `The agent's inputs are not valid: ${problems.join("; ")}`);
  };
  const [inShared, inOwn] = [true, false].map((is) => wrong.filter((one) => ofShared.includes(one) === is));
  tell(["defaults"], inShared ?? []);
  tell(path, inOwn ?? []);
  return values;
}

function inputProblems({ inputs = {} }: AgentDefinition, values: InputValues): readonly string[] {
  try {
    inputValues(inputs, values);
    return [];
  } catch (error) {
    if (error instanceof CapstanError) return error.data["problems"] as readonly string[];
    throw error;
  }
}

/** Reports and `--filter` identify a case by its name, cassettes by the file name derived from it. */
function sameNames(cases: readonly CaseAsWritten[], problems: Problem[]): void {
  const seen = new Map<string, number>();
  for (const [index, { name }] of cases.entries()) {
    const first = seen.get(fileNameOf(name));
    if (first === undefined) seen.set(fileNameOf(name), index);
    else {
      const why = cases[first]?.name === name ? "already has it" : "has one with the same file name";
      problems.push({
        path: ["cases", index, "name"],
        at: "value",
        text: `expected another name (case ${first + 1} ${why})`,
      });
    }
  }
}
