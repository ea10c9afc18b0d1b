import { afterAll } from "vitest";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import type { LoggedEvent } from "../../src/core/events/events.ts";
import type { StartOptions } from "../../src/runtime/session-options.ts";
import type { Session } from "../../src/runtime/session.ts";
import { agent, eventsOf, testHost, type TestHost } from "./host.ts";
import type { ModelRequest, Script } from "./scripted-model.ts";

export interface Shared {
  readonly t: TestHost;
  readonly session: Session;
  /** What the log says since the test has it. */
  readonly events: () => Promise<readonly LoggedEvent[]>;
  /** What the model was asked since then. */
  readonly requests: () => readonly ModelRequest[];
}

/** One session, and so one agent process, for those tests of a file that do not mind what was said in it before. */
export function sharedSession(
  agentFor: (t: TestHost) => AgentInput = () => agent(),
  options: Omit<StartOptions, "agent" | "cwd"> = {},
): (script: Script) => Promise<Shared> {
  let opened: Promise<TestHost> | undefined;
  let started: Promise<Session> | undefined;
  afterAll(async () => (await opened)?.[Symbol.asyncDispose]());
  return async (script) => {
    const t = await (opened ??= testHost(script));
    t.model.script = script;
    const session = await (started ??= t.host.startSession({ ...options, agent: agentFor(t), cwd: t.cwd }));
    // A test that failed may have left it in a turn.
    if (session.state.status !== "idle" || session.state.stopReason?.type === "requires_action")
      await session.interrupt();
    const logged = (await eventsOf(t.host, session.id)).length;
    const asked = t.model.requests.length;
    return {
      t,
      session,
      events: async () => (await eventsOf(t.host, session.id)).slice(logged),
      requests: () => t.model.requests.slice(asked),
    };
  };
}
