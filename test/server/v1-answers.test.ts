import { ConflictError } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import type { Beta } from "@anthropic-ai/sdk/resources/beta";
import { expect, test } from "vitest";
import { order } from "../support/obedient-model.ts";
import { refusal } from "../support/v1-app.ts";
import { startV1Server } from "../support/v1-server.ts";
import { listEvents, message, ofType, place, turn, untilIdle } from "../support/v1-session.ts";

const { app, client, here, newSession } = await startV1Server();

test("a call that needs approval waits for a confirmation, then continues", async () => {
  const id = await newSession();
  const asked = await turn(client, id, [message(order(["Bash", { command: "touch made" }]))]);
  const [use] = ofType(asked, "agent.tool_use");
  expect(asked.at(-1)).toMatchObject({ stop_reason: { type: "requires_action", event_ids: [use?.id] } });
  const stream = await client.beta.sessions.events.stream(id);
  const confirmation = { type: "user.tool_confirmation", tool_use_id: use?.id ?? "", result: "allow" } as const;
  const { data = [] } = await client.beta.sessions.events.send(id, { events: [confirmation] });
  expect(data).toMatchObject([{ ...confirmation, processed_at: null, id: expect.stringMatching(/^sevt_/) }]);
  const after = await untilIdle(stream);
  expect(ofType(after, "user.tool_confirmation")).toMatchObject([{ id: data[0]?.id, by: "a admin", from: "api" }]);
  expect(ofType(after, "agent.tool_result")).toMatchObject([{ tool_use_id: use?.id, is_error: false }]);
  const again = await refusal(client.beta.sessions.events.send(id, { events: [confirmation] }));
  expect(again).toBeInstanceOf(ConflictError);
  expect(again.apiMessage).toContain("allowed by a admin");
});

test("a denial gives the model the reason", async () => {
  const id = await newSession();
  const asked = await turn(client, id, [message(order(["Bash", { command: "touch never" }]))]);
  const [use] = ofType(asked, "agent.tool_use");
  const after = await turn(client, id, [
    { type: "user.tool_confirmation", tool_use_id: use?.id ?? "", result: "deny", deny_message: "Not today." },
  ]);
  expect(JSON.stringify(ofType(after, "agent.tool_result")[0]?.content)).toContain("Not today.");
});

test("validates all events before acting on any", async () => {
  const id = await newSession();
  const gone = { type: "user.tool_confirmation", tool_use_id: "sevt_gone", result: "allow" } as const;
  const error = await refusal(client.beta.sessions.events.send(id, { events: [message("hello"), gone] }));
  expect(error.apiMessage).toContain("is not waiting for an answer");
  expect(ofType(await listEvents(client, id), "user.message")).toEqual([]);
});

const weatherTool = {
  name: "weather",
  description: "Tells the weather of a city.",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
} as const;
const weather: Beta.BetaManagedAgentsCustomToolParams = {
  type: "custom",
  name: weatherTool.name,
  description: weatherTool.description,
  input_schema: { ...weatherTool.inputSchema, required: ["city"] },
};

test("a custom tool runs in the client: the official runner answers it", async () => {
  const { agent } = await place(client, { name: "Weatherman", tools: [weather] });
  const { id } = await client.beta.sessions.create({ ...here, agent });
  await client.beta.sessions.events.send(id, { events: [message(order(["mcp__capstan__weather", { city: "Kiel" }]))] });
  const runner = client.beta.sessions.events.toolRunner(id, {
    tools: [betaTool({ ...weatherTool, run: ({ city }) => `${city}: rain` })],
    maxIdleMs: 300,
  });
  const calls = [];
  for await (const { name, isError, posted } of runner) calls.push({ name, isError, posted });
  expect(calls).toEqual([{ name: "weather", isError: false, posted: true }]);
  const events = await listEvents(client, id);
  expect(ofType(events, "agent.custom_tool_use")).toMatchObject([{ name: "weather", input: { city: "Kiel" } }]);
  expect(ofType(events, "user.custom_tool_result")).toMatchObject([
    { content: [{ type: "text", text: "Kiel: rain" }], is_error: false },
  ]);
  expect(app.model.requests.at(-1)?.transcript).toContain("Kiel: rain");
});

test("a custom tool's result may arrive later, and may be an error", async () => {
  const { agent } = await place(client, { name: "Weatherman", tools: [weather] });
  const { id } = await client.beta.sessions.create({ ...here, agent });
  const asked = await turn(client, id, [message(order(["mcp__capstan__weather", { city: "Kiel" }]))]);
  const [use] = ofType(asked, "agent.custom_tool_use");
  expect(asked.at(-1)).toMatchObject({ stop_reason: { type: "requires_action", event_ids: [use?.id] } });
  // Nobody drives it any more, as after a restart of the server.
  await (await app.host.attend(id)).close();
  const result = {
    type: "user.custom_tool_result",
    custom_tool_use_id: use?.id ?? "",
    content: [{ type: "text", text: "No such city." }],
    is_error: true,
  } as const;
  const after = await turn(client, id, [{ ...result, content: [...result.content] }]);
  expect(ofType(after, "user.custom_tool_result")).toMatchObject([{ is_error: true }]);
  expect(app.model.requests.at(-1)?.toolResults).toMatchObject([{ text: "No such city.", isError: true }]);
  const twice = await refusal(
    client.beta.sessions.events.send(id, { events: [{ ...result, content: [...result.content] }] }),
  );
  expect(twice).toBeInstanceOf(ConflictError);
});

const question = (words: string) => ({
  question: words,
  header: "H",
  multiSelect: false,
  options: [
    { label: "Red", description: "r" },
    { label: "Blue", description: "b" },
  ],
});

test("an agent created here may ask questions, which are answered like custom tool uses", async () => {
  const { agent } = await place(client, {
    name: "Asker",
    tools: [{ type: "custom", name: "ask_user_question", description: "Ask.", input_schema: { type: "object" } }],
  });
  expect((await client.beta.agents.retrieve(agent)).tools).toMatchObject([
    { type: "custom", name: "ask_user_question", input_schema: { required: ["questions"] } },
  ]);
  const { id } = await client.beta.sessions.create({ ...here, agent });
  const asked = await turn(client, id, [message(order(["AskUserQuestion", { questions: [question("Which?")] }]))]);
  const [use] = ofType(asked, "agent.custom_tool_use");
  expect(use).toMatchObject({ name: "ask_user_question", input: { questions: [{ question: "Which?" }] } });
  const answer = (content: string): Beta.Sessions.BetaManagedAgentsUserCustomToolResultEventParams => ({
    type: "user.custom_tool_result",
    custom_tool_use_id: use?.id ?? "",
    content: [{ type: "text", text: content }],
  });
  const wrong = await refusal(client.beta.sessions.events.send(id, { events: [answer('{"What?":"Red"}')] }));
  expect(wrong.apiMessage).toContain("did not ask");
  const allow = { type: "user.tool_confirmation", tool_use_id: use?.id ?? "", result: "allow" } as const;
  expect((await refusal(client.beta.sessions.events.send(id, { events: [allow] }))).apiMessage).toContain(
    "custom_tool_result",
  );
  const after = await turn(client, id, [answer("Blue")]);
  expect(ofType(after, "user.custom_tool_result")).toMatchObject([
    { custom_tool_use_id: use?.id, content: [{ type: "text", text: '{"Which?":"Blue"}' }] },
  ]);
  expect(app.model.requests.at(-1)?.transcript).toContain("Blue");
  const types = (await listEvents(client, id, { types: ["agent.custom_tool_use", "agent.tool_use"] })).map(
    ({ type }) => type,
  );
  expect(types).toEqual(["agent.custom_tool_use"]);
});

test("a question of an agent that may not ask is a denied call, not a custom tool use", async () => {
  const id = await newSession();
  const events = await turn(client, id, [message(order(["AskUserQuestion", { questions: [question("Which?")] }]))]);
  expect(events.at(-1)).toMatchObject({ stop_reason: { type: "end_turn" } });
  expect(ofType(events, "agent.custom_tool_use")).toEqual([]);
});

test("each call shows its decision, in the stream and in lists of either order", async () => {
  const id = await newSession();
  const asked = await turn(client, id, [
    message(order(["Glob", { pattern: "*" }], ["LS", { path: "." }], ["Bash", { command: "touch b" }])),
  ]);
  const seen = ofType(asked, "agent.tool_use").map(({ name, evaluated_permission: made }) => [name, made]);
  expect(seen).toEqual([
    ["Glob", "allow"],
    ["LS", "deny"],
    ["Bash", "ask"],
  ]);
  const made = async (params: Beta.Sessions.EventListParams): Promise<unknown[]> =>
    (await listEvents(client, id, { ...params, types: ["agent.tool_use"] })).map((event) =>
      "evaluated_permission" in event ? [event.name, event.evaluated_permission] : event,
    );
  expect(await made({})).toEqual(seen);
  expect(await made({ limit: 1 })).toEqual(seen);
  expect(await made({ order: "desc", limit: 1 })).toEqual(seen.toReversed());
  await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
});
