import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { AgentInput } from "../../../src/core/agent/agent-definition.ts";
import type { Approval } from "../../../src/core/session/approval.ts";
import {
  CAPABILITIES,
  type CapabilityName,
  type EngineCapabilities,
  abilityLack,
} from "../../../src/core/ports/engine-capabilities.ts";
import type { LoggedEvent, Preview } from "../../../src/core/events/events.ts";
import { hostToolName } from "../../../src/engines/tool-names.ts";
import type { Runtime as Host } from "../../../src/runtime/runtime.ts";
import type { StartOptions } from "../../../src/runtime/session-options.ts";
import type { Session } from "../../../src/runtime/session.ts";
import type { Turn } from "../../../src/runtime/turn/turn.ts";
import { agent, testHost, type TestHost } from "../../support/host.ts";
import { type Fault, type ModelRequest, type Reply, say, type Script } from "../../support/scripted-model.ts";
import { until } from "../../support/until.ts";

/** One engine, as the contract suite sees it. */
export interface EngineUnderTest {
  readonly name: string;
  /** What an agent needs so that its sessions run on this engine. */
  readonly agent: Partial<AgentInput>;
  readonly capabilities: EngineCapabilities;
  /** What the engine offers along with a tool, unasked: without it the tool would be of less use. */
  readonly companions?: Readonly<Record<string, readonly string[]>>;
  /**
   * Opens a host on the same model where a context of 195,000 tokens is nearly full, if that takes more than a model with
   * a window of 200,000.
   */
  readonly hostWithSmallContexts?: (t: TestHost) => Promise<Host>;
}

/** What the parts of the suite share: agents for the engine, and a place for each capability. */
export class Stage {
  readonly name: string;
  readonly #engine: EngineUnderTest;
  readonly #shown = new Set<CapabilityName>();

  constructor(engine: EngineUnderTest) {
    this.name = engine.name;
    this.#engine = engine;
  }

  agent(more: Partial<AgentInput> = {}): AgentInput {
    return agent({ ...this.#engine.agent, ...more });
  }

  /** Capabilities that some part of the suite has tests for. */
  get shown(): readonly CapabilityName[] {
    return [...this.#shown];
  }

  /** What the model is offered when an agent lists these, sorted. */
  offeredTools(tools: readonly string[]): readonly string[] {
    return tools.flatMap((tool) => [tool, ...(this.#engine.companions?.[tool] ?? [])]).toSorted();
  }

  hostWithSmallContexts(t: TestHost): Promise<Host> {
    return this.#engine.hostWithSmallContexts?.(t) ?? t.another();
  }

  has(capability: CapabilityName): boolean {
    return abilityLack(this.#engine.capabilities[capability]) === undefined;
  }

  /** Registers `tests` when the engine has the capability, and otherwise a test that `lacking` is what it does instead. */
  capability(name: CapabilityName, tests: () => void, lacking: () => Promise<void>): void {
    this.#shown.add(name);
    describe(CAPABILITIES[name].title, () => {
      if (this.has(name)) tests();
      else test("is not there, and does not pretend to be", lacking);
    });
  }

  /** For capabilities that an agent asks for: such an agent is refused before anything is stored. */
  expectRefusal(
    more: Omit<StartOptions, "agent" | "cwd"> & { readonly agent?: Partial<AgentInput> },
  ): () => Promise<void> {
    return async () => {
      await using t = await testHost(() => say("never"));
      const started = t.host.startSession({ ...more, agent: this.agent(more.agent), cwd: t.cwd });
      await expect(started).rejects.toMatchObject({
        code: "invalid_agent",
        message: expect.stringContaining(`the ${this.name} engine`) as string,
      });
      expect(await t.host.sessions()).toEqual([]);
    };
  }
}

type Step = Reply | Fault | ((request: ModelRequest) => Reply | Fault | Promise<Reply | Fault>);

/** A model that answers each request with the next step, and then says "done". */
export function steps(...list: readonly Step[]): Script {
  const left = [...list];
  return (request) => {
    const step = left.shift() ?? say("done");
    return typeof step === "function" ? step(request) : step;
  };
}

/** The name under which the model knows a tool of the host or of a client. */
export function nameIn(request: ModelRequest | undefined, tool: string): string {
  const names = (request?.body.tools ?? []).map(({ name }) => name);
  return names.find((name) => name === tool || name === hostToolName(tool)) ?? tool;
}

export async function collect(
  turn: Turn,
  seen?: (item: LoggedEvent | Preview) => void,
): Promise<(LoggedEvent | Preview)[]> {
  const items: (LoggedEvent | Preview)[] = [];
  for await (const item of turn) {
    items.push(item);
    seen?.(item);
  }
  return items;
}

/** Resolves when the session is idle and waits for nobody. */
export async function waitUntilEnded(session: Session): Promise<void> {
  await until(
    () => session.state,
    ({ status, stopReason }) => status === "idle" && stopReason?.type !== "requires_action",
  );
}

/** The approvals of a session that wait, when there are so many. */
export function waiting(host: Host, session: Pick<Session, "id">, count = 1): Promise<readonly Approval[]> {
  return until(
    () => host.approvals.list({ status: "pending", sessionId: session.id }),
    (list) => list.length >= count,
  );
}

let sleeps = 0;
/** A command that sleeps long enough, under a name that no other process of the machine has. */
export function longSleep(): string {
  return `sleep 1000.${process.pid}${(sleeps += 1)}`;
}

/** Whether a process of this command is there. Its own id may be one of another namespace. */
export function isRunning(command: string): boolean {
  const line = `${command.replaceAll(" ", "\0")}\0`;
  return readdirSync("/proc").some((entry) => /^\d+$/.test(entry) && commandLine(entry) === line);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // It ended while we looked.
    return "";
  }
}

/** How often a text is in what the model was asked. */
export function countIn({ transcript }: Pick<ModelRequest, "transcript">, text: string): number {
  return transcript.split(text).length - 1;
}

/** Every call and every result that the model was shown, in order. */
export function callsIn(request: ModelRequest | undefined): {
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  readonly results: readonly { readonly id: string; readonly isError: boolean }[];
} {
  const blocks = (request?.body.messages ?? []).flatMap(({ content }) => (typeof content === "string" ? [] : content));
  return {
    calls: blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id: String(id), name: String(name), input })),
    results: blocks
      .filter(({ type }) => type === "tool_result")
      .map((block) => ({ id: String(block["tool_use_id"]), isError: block["is_error"] === true })),
  };
}
