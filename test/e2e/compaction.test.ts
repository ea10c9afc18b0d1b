import { expect, test } from "vitest";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { type Fault, type ModelRequest, type Reply, say } from "../support/scripted-model.ts";

const isSummary = ({ last }: ModelRequest): boolean => last.includes("CRITICAL: Respond with TEXT ONLY");

/** Sends four messages to a model that gives these answers, the last one to another process. */
async function conversation(given: Partial<AgentInput>, answers: readonly (Reply | Fault)[]) {
  const left = [...answers];
  await using t = await testHost((request) =>
    isSummary(request) ? say("SUMMARY: they counted.") : (left.shift() ?? say("done")),
  );
  const session = await t.host.startSession({ agent: agent(given), cwd: t.cwd });
  const compacted = async () => ofType(await eventsOf(t.host, session.id), "agent.thread_context_compacted");
  /** The messages with which the context was summarised. */
  const at: number[] = [];
  for (const number of [1, 2, 3, 4]) {
    if (number === 4) await session.hibernate();
    await session.send(`This is message ${number}.`).result();
    at.push(...(await compacted()).slice(at.length).map(() => number));
  }
  return { at, events: await compacted(), last: t.model.requests.at(-1)?.transcript ?? "" };
}

/** An answer to a request that had so many tokens. */
const used = (input_tokens: number): Reply => say("fine", { usage: { input_tokens } });

const TOO_LONG: Fault = {
  status: 400,
  body: JSON.stringify({
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 201000 tokens > 200000 maximum" },
  }),
};

test.each([
  ["claude-sonnet-4-5", 80_000],
  ["claude-opus-4-8", 150_000],
])("the context of %s is summarised once it has grown to compact_at %i", async (model, size) => {
  const answers = [used(size - 1_000), used(size + 1_000), used(1_000)];
  const { at, events, last } = await conversation({ model, compact_at: size }, answers);
  expect(at).toEqual([3]);
  expect(events).toMatchObject([{ trigger: "auto", summary: expect.stringContaining("SUMMARY") as string }]);
  expect(last).toContain("SUMMARY: they counted.");
  expect(last).toContain("This is message 3.");
  expect(last).not.toContain("This is message 1.");
});

test.each(["claude-opus-4-8", "claude-sonnet-5-5", "a-model-that-nobody-knows"])(
  "without compact_at the context of %s is summarised near a million tokens",
  async (model) => {
    expect((await conversation({ model }, [used(966_000), used(968_000), used(1_000)])).at).toEqual([3]);
  },
);

test("without compact_at a smaller model is asked until its provider refuses, and then has a summary", async () => {
  const { at, last } = await conversation({ model: "claude-sonnet-4-5" }, [used(150_000), used(199_000), TOO_LONG]);
  expect(at).toEqual([3]);
  expect(last).toContain("SUMMARY: they counted.");
  expect(last).toContain("This is message 4.");
});

test.each([1_000, 1_000_000])("a size of %i tokens is refused before a session starts", async (size) => {
  await using t = await testHost(() => say("never"));
  const start = t.host.startSession({ agent: agent({ compact_at: size }), cwd: t.cwd });
  await expect(start).rejects.toMatchObject({
    code: "invalid_agent",
    message: expect.stringMatching(/compact_at.*Give 67000 to 967000/) as string,
  });
});
