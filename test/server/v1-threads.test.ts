import { expect, test } from "vitest";
import { call, say } from "../support/scripted-model.ts";
import { refusal } from "../support/v1-app.ts";
import { startV1Server } from "../support/v1-server.ts";
import { message, ofType, withScript, turn } from "../support/v1-session.ts";

const { app, client, here } = await startV1Server();

test("a session's subagents are its threads", async () => {
  const helper = await client.beta.agents.create({
    name: "The Helper",
    model: "claude-sonnet-5",
    description: "Helps.",
    system: "Help.",
  });
  const lead = await client.beta.agents.create({
    name: "Lead",
    model: "claude-opus-4-8",
    multiagent: { type: "coordinator", agents: [helper.id] },
  });
  const session = await client.beta.sessions.create({ ...here, agent: lead.id });
  expect(session.agent.multiagent).toMatchObject({
    agents: [{ type: "agent", id: helper.id, name: "The Helper", system: "Help.", model: { id: "claude-sonnet-5" } }],
  });
  const events = await withScript(
    app.model,
    ({ agent, toolResults }) => {
      if (agent !== "main") return say("helped");
      if (toolResults.length > 0) return say("all done");
      return call("Agent", { description: "help", prompt: "Please help.", subagent_type: "the-helper" });
    },
    () => turn(client, session.id, [message("get help")]),
  );
  const [created] = ofType(events, "session.thread_created");
  const child = created?.session_thread_id ?? "";
  const threads = client.beta.sessions.threads;
  const list = [];
  for await (const thread of threads.list(session.id, { limit: 1 })) list.push(thread);
  expect(list).toMatchObject([
    { parent_thread_id: null, status: "idle", agent: { type: "agent", id: lead.id }, session_id: session.id },
    { id: child, parent_thread_id: list[0]?.id, agent: { type: "agent", id: helper.id, name: "The Helper" } },
  ]);
  expect(list[1]?.usage?.output_tokens).toBeGreaterThan(0);
  expect(await threads.retrieve(child, { session_id: session.id })).toMatchObject({ id: child });
  expect((await threads.list(session.id, { statuses: ["running"] })).data).toEqual([]);
  const own = [];
  for await (const event of threads.events.list(child, { session_id: session.id })) own.push(event);
  expect(own.map((event) => ("session_thread_id" in event ? event.session_thread_id : undefined))).toEqual(
    own.map(() => child),
  );
  expect(JSON.stringify(own)).toContain("helped");
  const primary = [];
  for await (const event of threads.events.list(list[0]?.id ?? "", { session_id: session.id })) primary.push(event);
  expect(primary.map(({ type }) => type)).toEqual(expect.arrayContaining(["session.thread_created", "user.message"]));
  expect(JSON.stringify(primary.filter(({ type }) => type === "agent.message"))).not.toContain("helped");
  // A subagent's words are on its own thread alone.
  const ofSession = [];
  for await (const event of client.beta.sessions.events.list(session.id)) ofSession.push(event);
  for (const shown of [ofSession, events])
    expect(JSON.stringify(shown.filter(({ type }) => type === "agent.message"))).toMatch(/^(?!.*helped).*all done/);
  const stream = await threads.events.stream(child, { session_id: session.id }, { headers: { "Last-Event-ID": "1" } });
  const streamed = [];
  for await (const event of stream) {
    streamed.push(event);
    if (streamed.length === own.length) break;
  }
  expect(streamed).toEqual(own);
  const archive = await refusal(threads.archive(child, { session_id: session.id }));
  expect(archive.apiMessage).toContain("does not support archiving a single thread");
  expect((await refusal(threads.retrieve("sthr_gone", { session_id: session.id }))).status).toBe(404);
});
