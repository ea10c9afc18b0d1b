import { openHost } from "../../../src/app/open-host.ts";
import { ANY_PRESSURE } from "../host.ts";
import type { AgentInput } from "../../../src/core/agent/agent-definition.ts";
import type { Session } from "../../../src/index.ts";
import { TEST_ENGINE } from "../test-engine.ts";

/** A host in a process of its own that does one thing with a session, and may be killed meanwhile. */
export interface RewindTask {
  readonly home: string;
  readonly cwd: string;
  readonly environment: Record<string, string>;
  readonly agent: AgentInput;
  /** Undefined to start one. */
  readonly sessionId: string | undefined;
  /** How long its log is. */
  readonly head: number;
  /** Undefined to resume it and no more. */
  readonly work: { readonly message: string } | { readonly to: string; readonly conversation: boolean } | undefined;
}

/** `rewinding` is told when the log says that a rewind has begun, and before the files have changed much. */
export type RewindReport = { readonly started: string } | { readonly rewinding: true } | { readonly done: true };

process.once("message", (task: RewindTask) => void run(task));

async function run({ home, cwd, environment, agent, sessionId, head, work }: RewindTask): Promise<void> {
  await using host = await openHost({ home, engine: TEST_ENGINE, environment, retries: 1, capacity: ANY_PRESSURE });
  await using session =
    sessionId === undefined
      ? await host.startSession({ agent, cwd })
      : await host.resumeSession(sessionId, { onCrash: "stop" });
  report({ started: session.id });
  if (work !== undefined && "message" in work) await session.send(work.message).result();
  if (work !== undefined && "to" in work) {
    void tellOfRewind(session, head);
    // A call that a kill cut off is unsure: its files would stop the rewind.
    await host.files.rewind(session.id, { ...work, overwrite: true });
  }
  report({ done: true });
  process.disconnect();
}

async function tellOfRewind(session: Session, after: number): Promise<void> {
  for await (const { type } of session.events({ after }))
    if (type === "capstan.rewind_started") return report({ rewinding: true });
}

function report(what: RewindReport): void {
  process.send?.(what);
}
