import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Cassette } from "../../core/suite/cassette.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { DEFAULT_ENGINE } from "../../core/agent/engine-name.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { LoggedEvent } from "../../core/events/events.ts";
import type { SandboxPlan } from "../../core/environment/sandbox.ts";
import type { Case, CaseTurn, Suite } from "../../core/suite/suite.ts";
import type { TrialRun } from "../../core/suite/suite-run.ts";
import type { Tape, Tapes } from "../../core/ports/tape.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Session } from "../../runtime/session.ts";
import { caseAnswers } from "./answers.ts";
import { callsIn, spendIn, turnsIn } from "./facts.ts";
import { failedTrial } from "./failed-trial.ts";
import { prepareFixture } from "../fixture.ts";
import { type GradeTrial, isLate, type Judgement } from "../grading.ts";
import type { TrialFacts } from "./trial-facts.ts";
import { CASE, trialRun } from "./trial-run.ts";
import { changesBetween, type WorkspaceState, workspaceState } from "./workspace-state.ts";

export interface TrialDeps {
  readonly runtime: Pick<Runtime, "startSession" | "read">;
  readonly tapes: Tapes;
  readonly clock: Clock;
  /** The directory of a session's HOME and temporary files. */
  readonly stateOf: (sessionId: string) => string;
  /** Where the trials' directories are created. */
  readonly directory: string;
  readonly grade: GradeTrial;
  /** The sandbox of a session for its current workspace. */
  readonly sandboxOf: (session: Pick<Session, "record" | "state">) => SandboxPlan;
}

export interface TrialRequest {
  readonly suite: Suite;
  readonly case: Case;
  readonly trial: number;
  readonly project: string;
  /** Absent: requests go to the model. */
  readonly cassette: Cassette | undefined;
  readonly acceptDrift: boolean;
  readonly record: boolean;
  readonly signal: AbortSignal;
}

export interface TrialOutcome {
  readonly run: TrialRun;
  /** Its results; absent if it could not run. */
  readonly facts: TrialFacts | undefined;
  /** The recording, if requested and the trial reached its end. */
  readonly recorded: ReturnType<Tape["recording"]> | undefined;
}

/** Runs and grades one trial in its own directory. Never rejects: failures are its outcome. */
export async function runTrial(request: TrialRequest, deps: TrialDeps): Promise<TrialOutcome> {
  const { trial, signal } = request;
  let directory: string | undefined;
  try {
    directory = await mkdtemp(join(deps.directory, "trial-"));
    return await inDirectory(request, deps, directory);
  } catch (error) {
    return { run: failedTrial(trial, reasonOf(error, signal)), facts: undefined, recorded: undefined };
  } finally {
    // Directories that an agent made inaccessible are left for the cleanup of the temporary directory.
    if (directory !== undefined) await rm(directory, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  return signal.aborted ? "The run was stopped." : messageOf(error);
}

const UNJUDGED: Judgement = { verdicts: [], usd: 0, errors: [], tapes: [], isAnswered: true };

function joinRecordings(tapes: readonly Tape[]): ReturnType<Tape["recording"]> {
  const all = tapes.map((tape) => tape.recording());
  return {
    threads: all.flatMap(({ threads }) => threads),
    texts: Object.assign({}, ...all.map(({ texts }) => texts)) as ReturnType<Tape["recording"]>["texts"],
  };
}

async function inDirectory(request: TrialRequest, deps: TrialDeps, directory: string): Promise<TrialOutcome> {
  const { suite, case: one, trial, project, signal } = request;
  const cwd = one.workspace === "here" ? join(suite.file, "..") : join(directory, "workspace");
  if (one.workspace === "trial") {
    await mkdir(cwd);
    await prepareFixture(cwd, one);
  }
  const stop = new AbortController();
  const answers = caseAnswers(one.answers, () => stop.abort("an approval without an answer"));
  const session = await deps.runtime.startSession({
    agent: one.engine === (suite.agent.engine ?? DEFAULT_ENGINE) ? suite.agent : { ...suite.agent, engine: one.engine },
    inputs: one.inputs,
    cwd,
    environment: suite.environment,
    programs: suite.programs,
    variables: one.variables,
    askPermission: answers.ask,
    project,
    title: `${suite.name}: ${one.name}`,
    metadata: { suite: suite.name, case: one.name, trial: String(trial) },
    signal,
  });
  const events = async (): Promise<readonly LoggedEvent[]> => deps.runtime.read(session.id);
  const tape = deps.tapes.insert(session.id, {
    session: CASE,
    replay: request.cassette && { cassette: request.cassette, acceptDrift: request.acceptDrift },
    record: request.record,
    faults: one.faults,
    kill: async () => killAgent(await events()),
    places: { WORKSPACE: session.record.cwd, TRIAL: directory, SESSION: deps.stateOf(session.id) },
    ignore: one.ignore,
  });
  try {
    const before = await workspaceState(session.record.cwd);
    const started = deps.clock.now();
    const over = AbortSignal.any([signal, stop.signal, AbortSignal.timeout(one.timeoutMs)]);
    const ended = await talk({ session, tape }, one, over);
    const durationMs = deps.clock.now() - started;
    const facts = await factsOf({ suite, case: one, session, events: await events(), before, durationMs });
    // A trial that the cassette ended is not graded.
    const isPlayed = request.acceptDrift || tape.drifts.length === 0;
    const graded = { request, facts, directory, sandbox: deps.sandboxOf(session) };
    const judged = ended === undefined && isPlayed ? await judge(graded, deps) : UNJUDGED;
    const tapes = [tape, ...judged.tapes];
    const isWhole = ended === undefined && answers.unanswered.length === 0 && judged.isAnswered;
    return {
      run: trialRun(trial, { facts, judged, tapes, answers, ended, request }),
      facts,
      // An incomplete recording would replay as if it were intended.
      recorded: request.record && isWhole ? joinRecordings(tapes) : undefined,
    };
  } catch (error) {
    // Report the cost, whatever happened to the trial.
    const run = { ...failedTrial(trial, reasonOf(error, signal)), ...spendIn(await events()), sessionId: session.id };
    return { run, facts: undefined, recorded: undefined };
  } finally {
    tape.end();
    await session.close();
  }
}

/** Graders get as much time as the agent: a judge may hang too. */
async function judge(graded: Parameters<GradeTrial>[0], { grade }: TrialDeps): Promise<Judgement> {
  const { request } = graded;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.case.timeoutMs)]);
  return grade({ ...graded, request: { ...request, signal } });
}

interface Talk {
  readonly session: Session;
  readonly tape: Tape;
}

/** Sends the case's messages turn by turn. Returns why it did not reach its end, if so. */
async function talk(parts: Talk, { turns }: Case, signal: AbortSignal): Promise<string | undefined> {
  for (const turn of turns) {
    if (signal.aborted) break;
    const interrupt = (): void => void parts.session.interrupt();
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      await sayOne(parts, turn);
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
  }
  if (!signal.aborted) return undefined;
  if (signal.reason === "an approval without an answer") return undefined;
  return isLate(signal)
    ? "The trial took too long and was interrupted. Give the case more time (timeout: 10m), or check its last steps."
    : "The run was stopped.";
}

async function sayOne({ session, tape }: Talk, { input, interruptAfter }: CaseTurn): Promise<void> {
  const last = interruptAfter && session.state.toolCalls + interruptAfter.toolCalls;
  // Makes it deterministic whether the agent sends another request before it notices.
  tape.hold(() => last !== undefined && session.state.toolCalls >= last);
  let isInterrupted = false;
  for await (const event of session.send(input)) {
    // Not when the model makes the call: an interrupt before the decision would deny it.
    if (event.type !== "capstan.permission_decided" || isInterrupted) continue;
    if (last === undefined || session.state.toolCalls < last) continue;
    isInterrupted = true;
    void session.interrupt();
  }
  if (isInterrupted) tape.interrupt();
}

async function killAgent(events: readonly LoggedEvent[]): Promise<void> {
  const started = events.findLast((event) => event.type === "capstan.process_started");
  if (started?.type !== "capstan.process_started") return;
  if (started.pid === undefined)
    throw new CapstanError(
      "unsupported",
      `The ${started.engine ?? DEFAULT_ENGINE} engine has no process to kill. Remove the fault, or use another engine.`,
    );
  process.kill(started.pid, "SIGKILL");
}

async function factsOf({
  suite,
  case: one,
  session,
  events,
  before,
  durationMs,
}: {
  suite: Suite;
  case: Case;
  session: Session;
  events: readonly LoggedEvent[];
  before: WorkspaceState;
  durationMs: number;
}): Promise<TrialFacts> {
  const workspace = session.record.cwd;
  return {
    suiteFile: suite.file,
    sessionId: session.id,
    workspace,
    events,
    turns: turnsIn(
      events,
      one.turns.map(({ input }) => input),
    ),
    calls: callsIn(events),
    ...changesBetween(before, await workspaceState(workspace)),
    ...spendIn(events),
    durationMs,
  };
}
