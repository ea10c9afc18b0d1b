import { expect, test } from "vitest";
import { claudeCodePromptChars } from "../../src/engines/claude/model-traits.ts";
import { agent, testHost } from "../support/host.ts";
import { say } from "../support/scripted-model.ts";

/** One for each line of the table, and those that share one. A process each, which is why this is not in `npm test`. */
const MODELS = [
  "claude-opus-5-5",
  "claude-sonnet-5-5",
  "claude-haiku-5-5",
  "claude-fable-5-2",
  "claude-fable-5-1",
  "claude-fable-5",
  "claude-opus-5",
  "claude-sonnet-5",
  "claude-opus-4-8",
  "claude-opus-4-7",
  "claude-opus-4-6",
  "claude-sonnet-4-6",
  "claude-opus-4-5",
  "claude-sonnet-4-5",
  "claude-haiku-4-5",
  "claude-3-7-sonnet-20250219",
];

test("Claude Code's own prompt is as long as we say, for every model that we know", async () => {
  await using t = await testHost(() => say("Done."));
  const found: [string, number][] = [];
  for (const model of MODELS) {
    const appended = agent({ model, instructions: "APPENDED", instructions_mode: "append" });
    await using session = await t.host.startSession({ agent: appended, cwd: t.cwd });
    await session.send("hello").result();
    const { system, model: asked } = t.model.requests.at(-1)!.body;
    const text = (system as { text: string }[]).map((block) => block.text).join("");
    found.push([asked, text.length - "APPENDED".length]);
  }
  expect(found).toEqual(MODELS.map((model) => [model, claudeCodePromptChars(model)]));
});
