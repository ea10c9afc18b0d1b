import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { homeDirectory } from "../../config/project/home.ts";
import type { Engines } from "../../core/ports/engine.ts";
import { type Redactor, secretVariables } from "../../core/redaction/redaction.ts";
import type { SuiteRun } from "../../core/suite/suite-run.ts";
import type { ClaudeSdk } from "../../engines/claude/sdk/sdk.ts";
import { grading } from "../../eval/grading.ts";
import { keeping } from "../../eval/compare/keep-cassette.ts";
import type { RunDeps } from "../../eval/run.ts";
import { runTrial, type TrialDeps, type TrialRequest } from "../../eval/trial/trial.ts";
import { GatewayTapes } from "../../gateway/cassette/tapes.ts";
import type { Upstream, UpstreamFor } from "../../gateway/upstreams/upstream.ts";
import { defaultProvider, usableUpstreams } from "../../gateway/upstreams/upstreams.ts";
import { sandboxOf } from "../../runtime/protected/sandbox.ts";
import { clock } from "../clock.ts";
import { hookCommands } from "../host/hook-command.ts";
import { outputs } from "../host/lazy-tools.ts";
import { hostParts, hostWith, rehearsal } from "../host/host-parts.ts";
import type { HostOptions } from "../open-host.ts";
import { secretsIn } from "./case-secrets.ts";

/** A replayed model answers immediately or never. */
const REPLAY_IDLE_MS = 5_000;

export interface Tests extends RunDeps, AsyncDisposable {
  /** Returns the value without this host's secrets. */
  readonly redact: <Value extends object>(value: Value) => Value;
}

export interface TestsOptions extends HostOptions {
  readonly sdk?: ClaudeSdk | undefined;
  readonly engines?: Pick<Engines, "load"> | undefined;
  /** Whether command graders run outside the sandbox of the session they grade. Default: inside, if there is one. */
  readonly gradersOutsideSandbox?: boolean;
}

/** A host for the trials of suites. Sessions that cost nothing are saved in a temporary place. */
export async function openTests(
  mode: SuiteRun["mode"],
  { sdk, engines, gradersOutsideSandbox: isOutside = false, ...options }: TestsOptions,
): Promise<Tests> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "capstan-trials-"));
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }).catch(() => {}));
  const isFree = mode === "replay" || options.rehearsal === true;
  // The user's own home stays hidden although these sessions are saved elsewhere.
  const own = options.home ?? homeDirectory(options.environment ?? process.env).path;
  const parts = hostParts({
    ...options,
    ...(isFree && {
      home: join(directory, "home"),
      secretFiles: [...(options.secretFiles ?? []), own],
      budgets: {},
      upstreamIdleMs: REPLAY_IDLE_MS,
    }),
  });
  const tapes = new GatewayTapes();
  const model = async (): Promise<Upstream | UpstreamFor> =>
    options.rehearsal === true ? rehearsal() : usableUpstreams(parts.credentials);
  const upstream = mode === "replay" ? tapes.alone() : tapes.before(await model());
  const provider = isFree ? undefined : defaultProvider(parts.credentials);
  const runtime = stack.use(await hostWith({ ...parts, upstream, provider, sdk, engines }));
  const runCommand = hookCommands({ path: parts.settings.path, isOutside, of: "graders" });
  const stateOf = (sessionId: string): string => join(parts.settings.home, "sessions", sessionId);
  const grade = grading({ runtime, tapes, outputs, runCommand, stateOf });
  const planOf: TrialDeps["sandboxOf"] = ({ record, state }) =>
    sandboxOf(
      {
        record,
        home: homedir(),
        capstanHome: parts.settings.home,
        stateDir: stateOf(record.id),
        variables: {},
        secretFiles: parts.settings.secretFiles ?? [],
      },
      state.files.workspace?.mounts,
    );
  /** The output of graders and the content of files never went through a log, where secrets are redacted. */
  const redactorFor = ({ suite, case: one }: Pick<TrialRequest, "suite" | "case">): Redactor =>
    parts.redactor.with(secretVariables({ ...suite.environment.variables, ...one.variables }));
  const opened = stack.move();
  return {
    clock,
    keep: (kept) => keeping({ clock, secretsIn: secretsIn(redactorFor(kept)) })(kept),
    redact: (value) => parts.redactor.event(value),
    async trial(request) {
      const outcome = await runTrial(request, { runtime, tapes, clock, directory, grade, stateOf, sandboxOf: planOf });
      const run = redactorFor(request).event(outcome.run);
      // The session's store is gone, so its id would be useless.
      return { ...outcome, run: isFree ? { ...run, sessionId: null } : run };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
