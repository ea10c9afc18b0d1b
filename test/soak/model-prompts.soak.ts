import { expect, test } from "vitest";
import { claudeCodePromptChars } from "../../src/engines/model-traits.ts";
import { MODELS } from "../../src/protocol/v1/models.ts";
import { agent, testHost } from "../support/host.ts";
import { say } from "../support/scripted-model.ts";

/** And one that no API lists any more. A process each, which is why this is not in `npm test`. */
const ALL = [...MODELS, "claude-3-7-sonnet-20250219"];

test("Claude Code's own prompt is as long as we say, for every model that we know", async () => {
  await using t = await testHost(() => say("Done."));
  const found: [string, number][] = [];
  for (const model of ALL) {
    const appended = agent({ model, instructions: "APPENDED", instructions_mode: "append" });
    await using session = await t.host.startSession({ agent: appended, cwd: t.cwd });
    await session.send("hello").result();
    const { system, model: asked } = t.model.requests.at(-1)!.body;
    const text = (system as { text: string }[]).map((block) => block.text).join("");
    found.push([asked, text.length - "APPENDED".length]);
  }
  expect(found).toEqual(ALL.map((model) => [model, claudeCodePromptChars(model)]));
});
