import { expect, test } from "vitest";
import { openRehearsal } from "../../src/gateway/rehearsal/rehearsal.ts";
import { ask, type Call, gatewayTo, ledger } from "./support.ts";

/** A gateway with the rehearsal model behind it. */
async function rehearsal() {
  const fixture = await gatewayTo("http://127.0.0.1", { upstream: openRehearsal(), session: ledger() });
  return {
    ...fixture,
    ask: (content: string, rest: Record<string, unknown> = {}, call: Call = {}) => {
      const body = JSON.stringify({ model: "claude-opus-4-8", messages: [{ role: "user", content }], ...rest });
      return ask(fixture.access.url, { token: fixture.access.token, body, ...call });
    },
  };
}

const TOOLS = [{ name: "Bash", input_schema: {} }];

test("the rehearsal model streams, with figures that follow the lengths", async () => {
  await using scene = await rehearsal();
  const answer = await scene.ask("hello", { stream: true });
  const asked = { model: "claude-opus-4-8", messages: [{ role: "user", content: "hello" }], stream: true };
  const bytes = JSON.stringify(asked).length;
  expect(answer.headers["content-type"]).toContain("text/event-stream");
  expect(answer.text).toContain("message_stop");
  const pieces = [...answer.text.matchAll(/"text_delta","text":(".*")\}/g)].map(([, text]) => JSON.parse(text ?? ""));
  expect(pieces.length).toBeGreaterThan(10);
  expect(pieces.join("")).toContain("I am Capstan's rehearsal model: a script that needs no key and no network");
  const outcome = scene.session.settled[0]?.outcome;
  expect(outcome).toMatchObject({ isError: false, status: 200, stopReason: "end_turn", proven: "all" });
  expect(outcome?.usage.input_tokens).toBe(Math.ceil(bytes / 4));
  expect(outcome?.usage.output_tokens).toBeGreaterThan(50);
});

test("the rehearsal model calls tools, each call with an id of its own", async () => {
  await using scene = await rehearsal();
  const ids = new Set<string>();
  for (let i = 0; i < 3; i += 1) {
    const answer = await scene.ask("run ls", { tools: TOOLS });
    const { content, stop_reason } = JSON.parse(answer.text) as { content: { id: string }[]; stop_reason: string };
    expect(content).toMatchObject([{ type: "tool_use", name: "Bash", input: { command: "ls" } }]);
    expect(stop_reason).toBe("tool_use");
    ids.add(content[0]?.id ?? "");
  }
  expect(ids.size).toBe(3);
});

test("requests at the same time get their own answers", async () => {
  await using scene = await rehearsal();
  const commands = Array.from({ length: 20 }, (_, i) => `echo ${i}`);
  const answers = await Promise.all(commands.map((command) => scene.ask(`run ${command}`, { tools: TOOLS })));
  expect(
    answers.map(
      ({ text }) => (JSON.parse(text) as { content: { input: { command: string } }[] }).content[0]?.input.command,
    ),
  ).toEqual(commands);
});

test("a call that is streamed has its whole input, whatever characters are in it", async () => {
  await using scene = await rehearsal();
  const command = `echo ${"🪢 \\u0022".repeat(9)}`;
  const { text } = await scene.ask(`run ${command}`, { tools: TOOLS, stream: true });
  const pieces = [...text.matchAll(/"partial_json":(".*")\}/g)].map(([, piece]) => String(JSON.parse(piece ?? "")));
  expect(pieces.length).toBeGreaterThan(5);
  expect(JSON.parse(pieces.join(""))).toMatchObject({ command });
  for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
});

test("the rehearsal model thinks", async () => {
  await using scene = await rehearsal();
  const answer = await scene.ask("think about ropes", { stream: true });
  expect(answer.text).toContain("thinking_delta");
});

test("the rehearsal model fails on purpose", async () => {
  await using scene = await rehearsal();
  expect(await scene.ask("fail with 529")).toMatchObject({ status: 529, error: { type: "overloaded_error" } });
  expect(await scene.ask("fail with 401")).toMatchObject({ status: 403, error: { type: "authentication_error" } });
  expect(scene.session.rejected).toMatchObject([{ status: 401 }]);
});

test("what the rehearsal model does not serve is not found", async () => {
  await using scene = await rehearsal();
  const answer = await scene.ask("hello", {}, { path: "/v1/messages/count_tokens" });
  expect(answer.status).toBe(404);
});
