import type { ReadSuite } from "../../config/suite/suite-file.ts";
import { CapstanError } from "../../core/errors.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { Case } from "../../core/suite/suite.ts";
import type { TrialRun } from "../../core/suite/suite-run.ts";
import { readCassette } from "../../eval/compare/cassette-files.ts";
import type { RunDeps } from "../../eval/run.ts";
import type { SessionCase } from "../../eval/session-case.ts";
import type { TrialFacts } from "../../eval/trial/trial-facts.ts";
import { cassetteFromSaid } from "../../gateway/cassette/cassette-from-session.ts";
import type { RecordRequest } from "./record-session.ts";

interface Playing extends Pick<ReadSuite, "suite"> {
  readonly record: SessionRecord;
  readonly request: Pick<RecordRequest, "capstan" | "sdk" | "signal">;
  /** The path of the cassette. */
  readonly cassette: string;
  readonly tests: RunDeps;
}

/**
 * Replays the model's answers from the session, whatever the requests are now, and saves them as the cassette of the
 * suite's last case. Rejects if the session does not reach its end that way.
 */
export async function playAgain({
  suite,
  told,
  record,
  request,
  cassette: path,
  tests,
}: Playing & { readonly told: SessionCase }): Promise<TrialFacts> {
  const { capstan, sdk, signal } = request;
  const one = lastOf(suite);
  const at = new Date(record.createdAt).toISOString();
  const recorded = { at, capstan, sdk, agent: suite.agentHash, engine: one.engine };
  const seed = cassetteFromSaid(told.said, { WORKSPACE: record.cwd }, { suite: suite.name, case: one.name, recorded });
  const outcome = await tests.trial({
    suite,
    // There is nothing to grade yet.
    case: { ...one, graders: [] },
    trial: 1,
    project: record.project,
    cassette: seed,
    acceptDrift: true,
    record: true,
    signal,
  });
  const count = ({ threads }: Pick<typeof seed, "threads">): number =>
    threads.reduce((sum, { exchanges }) => sum + exchanges.length, 0);
  const left = count(seed) - count(outcome.recorded ?? { threads: [] });
  const why =
    whyFailed(outcome.run) ??
    outcome.run.drifts.find(({ what }) => what === "unrecorded")?.summary ??
    (left > 0 ? `${left} of the model's answers were not requested again` : undefined);
  if (why !== undefined || outcome.recorded === undefined || outcome.facts === undefined)
    throw playFailure(record, `replaying its answers does not reach its end: ${why ?? "the replay failed"}`);
  await tests.keep({ path, suite, case: one, trial: 1, recorded: outcome.recorded, capstan, sdk });
  return outcome.facts;
}

/** Rejects unless the case passes with the new cassette. */
export async function requirePassing({ suite, record, request, cassette: path, tests }: Playing): Promise<void> {
  const { run } = await tests.trial({
    suite,
    case: lastOf(suite),
    trial: 1,
    project: record.project,
    cassette: await readCassette(path),
    acceptDrift: false,
    record: false,
    signal: request.signal,
  });
  const why = whyFailed(run);
  if (why !== undefined) throw playFailure(record, `two replays differ: ${why}`);
}

function lastOf({ cases }: ReadSuite["suite"]): Case {
  const one = cases.at(-1);
  if (one === undefined) throw new CapstanError("invalid_suite", "The suite has no case.");
  // There is only one cassette.
  return { ...one, trials: 1 };
}

function whyFailed({ error, verdicts }: TrialRun): string | undefined {
  const first = verdicts.find(({ passed }) => !passed);
  return error ?? (first && [first.message, first.diff].filter(Boolean).join("\n"));
}

function playFailure({ id }: SessionRecord, why: string): CapstanError {
  return new CapstanError("unsupported", `Session ${id} cannot become a case: ${why}`, { data: { sessionId: id } });
}
