import { hookCommands } from "../../src/app/host/hook-command.ts";
import { outputs } from "../../src/app/host/lazy-tools.ts";
import { environmentDefinition } from "../../src/core/environment/environment.ts";
import type { EventOf, EventType, LoggedEvent } from "../../src/core/events/events.ts";
import { type Grader, GRADER_KINDS } from "../../src/core/suite/grader-schema.ts";
import { sandboxPlan } from "../../src/core/environment/sandbox.ts";
import type { GraderVerdict } from "../../src/core/suite/suite-run.ts";
import { graderAsWritten } from "../../src/core/suite/suite-schema.ts";
import { grade } from "../../src/eval/grade.ts";
import type { GraderDeps } from "../../src/eval/graders/grader.ts";
import type { TrialCallFacts, TrialFacts, TrialTurnFacts } from "../../src/eval/trial/trial-facts.ts";
import { example } from "../support/event-examples.ts";

/** A grader as a suite has it, read as a suite is. */
export function parseGrader(given: unknown): Grader {
  const { name, turn, ...rest } = graderAsWritten.parse(given);
  const [kind] = GRADER_KINDS.filter((one) => rest[one] !== undefined);
  if (kind === undefined) throw new Error("no grader");
  return { kind, given: rest[kind], name, turn } as Grader;
}

/** What the schema says about a grader that it refuses. */
export function problemWith(given: unknown): string {
  return JSON.stringify(graderAsWritten.safeParse(given).error?.issues ?? []);
}

export function facts(given: Partial<TrialFacts> = {}): TrialFacts {
  return {
    suiteFile: "/suites/a.test.yaml",
    sessionId: "sesn_1",
    workspace: "/nowhere",
    events: [],
    turns: [turn({})],
    calls: [],
    changes: [],
    diff: "",
    usd: 0,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 },
    requests: 0,
    durationMs: 0,
    ...given,
  };
}

export function turn(given: Partial<TrialTurnFacts>): TrialTurnFacts {
  return { input: "Do it.", text: "Done.", output: undefined, stopReason: "end_turn", ...given };
}

export function saying(text: string): TrialFacts {
  return facts({ turns: [turn({ text })] });
}

export function call(tool: string, given: Partial<TrialCallFacts> = {}): TrialCallFacts {
  return { id: `sevt_${tool}`, tool, input: {}, by: "main", outcome: "completed", result: "", ...given };
}

export function loggedExample<T extends EventType>(type: T, given: Partial<EventOf<T>> = {}): LoggedEvent {
  return { ...example(type, given), seq: 1 };
}

const UNCONFINED = sandboxPlan(environmentDefinition.parse({}).sandbox, {
  cwd: "/nowhere",
  source: "/nowhere",
  home: "/nowhere",
  capstanHome: "/nowhere",
  stateDir: "/nowhere",
  temporary: "/nowhere",
  secretFiles: [],
  readOnlyMounts: [],
  variables: {},
  real: (path) => path,
});

function deps(given: Partial<GraderDeps> = {}): GraderDeps {
  return {
    outputs,
    runCommand: hookCommands({ path: "/usr/local/bin:/usr/bin:/bin", wrapper: [] }),
    stateDir: "/nowhere",
    sandbox: UNCONFINED,
    judge: () => Promise.reject(new Error("nobody judges here")),
    judgeModel: undefined,
    signal: new AbortController().signal,
    ...given,
  };
}

export function verdictOf(given: unknown, trial: TrialFacts, own: Partial<GraderDeps> = {}): Promise<GraderVerdict> {
  return grade(parseGrader(given), trial, deps(own));
}
