import { relative, resolve } from "node:path";
import { engineVersions } from "../../app/check/diagnose.ts";
import { recordSession } from "../../app/record/record-session.ts";
import { agentPath } from "../../config/agent/agent-path.ts";
import { homeDirectory } from "../../config/project/home.ts";
import { isSuiteFile } from "../../config/suite/suite-names.ts";
import { usageError } from "../terminal/failure.ts";
import { userStore } from "../target/home.ts";
import { testsOptions } from "../target/host.ts";
import { EXIT_INTERRUPTED, interruptOnSignal } from "../terminal/interrupt.ts";
import { resolveSession } from "../target/session-id.ts";
import { requirePerson } from "../terminal/person.ts";
import { packageVersion } from "../version.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

export interface RecordFlags {
  readonly suite?: string;
  readonly name?: string;
  readonly agent?: string;
  readonly allowSideEffects?: boolean;
  readonly json?: boolean;
}

/** Returns the exit code. */
export async function record(given: string, flags: RecordFlags): Promise<number> {
  const { suite, name, agent, json = false } = flags;
  if (suite !== undefined && !isSuiteFile(suite))
    throw usageError(`${suite} is not a valid suite name. It must end with .test.yaml`);
  // The files it writes are trusted.
  await requirePerson("capstan record");
  const { sessionId, agentName } = await findSession(given);
  const stop = new AbortController();
  using stopping = interruptOnSignal(async () => stop.abort());
  const recorded = await recordSession({
    sessionId,
    suiteFile: resolve(suite ?? `${agentName}.test.yaml`),
    name,
    agentFile: agent === undefined ? undefined : agentPath(resolve(agent)),
    home: homeDirectory(process.env).path,
    environment: process.env,
    testsOptions,
    allowSideEffects: flags.allowSideEffects ?? false,
    capstan: packageVersion(),
    sdk: engineVersions().sdk,
    signal: stop.signal,
  }).catch((thrown: unknown) => {
    if (stopping.stopped) return undefined;
    throw thrown;
  });
  if (recorded === undefined) {
    process.stderr.write("capstan: Stopped. Nothing was recorded.\n");
    return EXIT_INTERRUPTED;
  }
  const files = recorded.files.map((file) => relative(process.cwd(), file));
  if (json) {
    process.stdout.write(`${hiddenFreeJson({ ...recorded, files, sessionId })}\n`);
    return 0;
  }
  for (const note of recorded.notes) process.stderr.write(`capstan: ${escapeHidden(note)}\n`);
  const [first = ""] = files;
  process.stdout.write(
    `Recorded the case "${escapeHidden(recorded.case)}". It passes on replay:\n${files.map((file) => `  ${file}\n`).join("")}Run it: capstan test ${first}\n`,
  );
  return 0;
}

async function findSession(given: string): Promise<{ readonly sessionId: string; readonly agentName: string }> {
  await using store = await userStore();
  const sessionId = await resolveSession(store, given);
  const found = await store.session(sessionId);
  return { sessionId, agentName: found?.agent.name ?? "agent" };
}
