import { expect, test } from "vitest";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { say } from "../support/scripted-model.ts";

const MODELS = [
  "claude-fable-5",
  "claude-fable-5-1",
  "claude-fable-5-2",
  "claude-mythos-5",
  "claude-mythos-5-1",
  "claude-mythos-5-2",
  "claude-opus-5-5",
  "claude-opus-5",
  "claude-opus-4-8",
  "claude-opus-4-5",
  "claude-opus-4-6",
  "claude-opus-4-7",
  "claude-opus-4-1",
  "claude-opus-4-0",
  "claude-sonnet-5-5",
  "claude-sonnet-5",
  "claude-sonnet-4-6",
  "claude-sonnet-4-5",
  "claude-sonnet-4-0",
  "claude-3-7-sonnet-latest",
  "claude-haiku-5-5",
  "claude-haiku-4-5",
  "claude-3-5-haiku-latest",
];

test("our list prices are the ones the SDK counts with, for every model of the table", async () => {
  await using t = await testHost(() =>
    say("ok", {
      usage: {
        input_tokens: 1_000,
        output_tokens: 500,
        cache_read_input_tokens: 20_000,
        cache_creation_input_tokens: 3_000,
      },
    }),
  );
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  for (const model of MODELS) {
    await session.setModel(model);
    const { usd } = await session.send("hello").result();
    const engine = Object.values(
      ofType(await eventsOf(t.host, session.id), "session.usage").at(-1)?.usage.engine ?? {},
    );
    expect(usd, model).toBeGreaterThan(0);
    expect(
      engine.reduce((sum, part) => sum + part.usd, 0),
      model,
    ).toBeCloseTo(usd ?? 0, 10);
  }
  // In place of two that are retired, the CLI asks for another of them.
  expect(new Set(t.model.requests.map(({ body }) => body.model)).size).toBe(MODELS.length - 2);
});
