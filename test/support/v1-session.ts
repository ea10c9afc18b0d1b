import type Anthropic from "@anthropic-ai/sdk";
import type { Beta } from "@anthropic-ai/sdk/resources/beta";

import type { Script, ScriptedModel } from "./scripted-model.ts";

export type WireEvent = Beta.Sessions.BetaManagedAgentsStreamSessionEvents;

/** What an agent and an environment of the tests are; a session needs both. */
export interface Place {
  readonly agent: string;
  readonly environment_id: string;
}

/** An agent with the whole toolset, which each engine has, and an empty workspace. */
export async function place(client: Anthropic, more: Partial<Beta.AgentCreateParams> = {}): Promise<Place> {
  const { id: agent } = await client.beta.agents.create({
    name: "Tester",
    model: "claude-opus-4-8",
    tools: [{ type: "agent_toolset_20260401" }],
    ...more,
  });
  const { id } = await client.beta.environments.create({ name: "empty" });
  return { agent, environment_id: id };
}

export const message = (text: string): Beta.Sessions.BetaManagedAgentsUserMessageEventParams => ({
  type: "user.message",
  content: [{ type: "text", text }],
});

/** Sends events and gives all that the stream tells until the session is idle, as a client would. */
export async function turn(
  client: Anthropic,
  session: string,
  events: Beta.Sessions.BetaManagedAgentsEventParams[],
  params: Beta.Sessions.EventStreamParams = {},
): Promise<WireEvent[]> {
  const stream = await client.beta.sessions.events.stream(session, params);
  await client.beta.sessions.events.send(session, { events });
  return untilIdle(stream);
}

export async function untilIdle(stream: AsyncIterable<WireEvent>): Promise<WireEvent[]> {
  const seen: WireEvent[] = [];
  for await (const event of stream) {
    seen.push(event);
    if (event.type === "session.status_idle") return seen;
  }
  throw new Error(`The stream ended early: ${seen.map(({ type }) => type).join(" ")}`);
}

export function ofType<T extends WireEvent["type"]>(events: readonly WireEvent[], type: T) {
  return events.filter((event): event is Extract<WireEvent, { type: T }> => event.type === type);
}

/** The whole log, as the official client lists it. */
export async function listEvents(
  client: Anthropic,
  session: string,
  params: Beta.Sessions.EventListParams = {},
): Promise<Beta.Sessions.BetaManagedAgentsSessionEvent[]> {
  const events = [];
  for await (const event of client.beta.sessions.events.list(session, params)) events.push(event);
  return events;
}

/** The model answers this way until the work is done. */
export async function withScript<Result>(
  model: ScriptedModel,
  script: Script,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = model.script;
  model.script = script;
  try {
    return await work();
  } finally {
    model.script = before;
  }
}
