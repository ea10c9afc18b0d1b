import type { AgentDefinition } from "../../src/core/agent/agent-definition.ts";
import type { Clock } from "../../src/core/ports/clock.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import type { EventOf } from "../../src/core/events/events.ts";
import { type LeaseOwner, PLAIN_SESSION, type SessionRecord } from "../../src/core/ports/store.ts";

/** Small made-up data for whoever tests a store. */

export const NOON = Date.UTC(2026, 0, 1, 12);
export const MINUTE = 60_000;

export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(): ManualClock {
  let now = NOON;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
  };
}

export const sampleAgent: AgentDefinition = {
  name: "reviewer",
  instructions: "Review the change.",
  model: "claude-sonnet-4-5",
  tools: ["Read", "Bash"],
  permissions: { mode: "normal", allow: ["Read"], ask: [], deny: [] },
  budget: { usd: 0.5 },
  subagents: { helper: { description: "helps", instructions: "Help." } },
  output_schema: { type: "object", properties: { ok: { type: "boolean" } } },
};

export function sampleSession(id: string, changes: Partial<SessionRecord> = {}): SessionRecord {
  const plain = {
    createdAt: NOON,
    project: "default",
    agent: sampleAgent,
    environment: parseEnvironment({}),
    cwd: "/srv/project",
    source: changes.cwd ?? "/srv/project",
    title: null,
    ...PLAIN_SESSION,
    forkedFrom: null,
  };
  return { id, ...plain, ...changes };
}

export function sampleMessage(text: string): EventOf<"user.message"> {
  return {
    type: "user.message",
    id: "sevt_1",
    processed_at: new Date(NOON).toISOString(),
    content: [{ type: "text", text }],
  };
}

export function sampleMessages(count: number): readonly EventOf<"user.message">[] {
  return Array.from({ length: count }, (_, index) => sampleMessage(`message ${index}`));
}

export function sampleOwner(hostId: string): LeaseOwner {
  return { hostId, pid: 4711, hostname: "build-7" };
}
