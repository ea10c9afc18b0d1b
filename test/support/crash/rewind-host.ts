import { openHost } from "../../../src/app/open-host.ts";
import type { AgentInput } from "../../../src/core/agent-definition.ts";

/** A host in a process of its own that does one thing with a session, and may be killed meanwhile. */
export interface RewindTask {
  readonly home: string;
  readonly cwd: string;
  readonly environment: Record<string, string>;
  readonly agent: AgentInput;
  /** Undefined to start one. */
  readonly sessionId: string | undefined;
  readonly work: { readonly message: string } | { readonly to: string; readonly conversation: boolean };
}

export type RewindReport = { readonly started: string } | { readonly done: true };

process.once("message", (task: RewindTask) => void run(task));

async function run({ home, cwd, environment, agent, sessionId, work }: RewindTask): Promise<void> {
  await using host = await openHost({ home, environment, retries: 1 });
  await using session =
    sessionId === undefined
      ? await host.startSession({ agent, cwd })
      : await host.resumeSession(sessionId, { onCrash: "stop" });
  process.send?.({ started: session.id } satisfies RewindReport);
  if ("message" in work) await session.send(work.message).result();
  else await host.files.rewind(session.id, work);
  process.send?.({ done: true } satisfies RewindReport);
  process.disconnect();
}
