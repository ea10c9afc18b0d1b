import { describe, expect, test } from "vitest";
import { say, scriptedModel } from "../support/scripted-model.ts";
import { ask, gatewayTo, MESSAGE } from "./support.ts";

const SESSION = { "x-claude-code-session-id": "1e213e4f-4d1c-4842-b73e-da52420c66e1" };

describe("a request is attributed by its headers", () => {
  test.each([
    ["the main line", SESSION, { attributed: true, engineAgentId: undefined, requestClass: "unknown" }],
    [
      "a subagent",
      { ...SESSION, "X-Claude-Code-Agent-Id": "a876dc9f0fad5a057", "x-claude-code-request-class": "subagent" },
      { attributed: true, engineAgentId: "a876dc9f0fad5a057", requestClass: "subagent" },
    ],
    [
      "a side query of the main line",
      { ...SESSION, "x-claude-code-request-class": "auxiliary" },
      { attributed: true, engineAgentId: undefined, requestClass: "auxiliary" },
    ],
    [
      "no session label",
      { "x-claude-code-session-id": "" },
      { attributed: false, engineAgentId: undefined, requestClass: "unknown" },
    ],
    [
      "an agent id that is no label",
      { ...SESSION, "x-claude-code-agent-id": "../../x y", "x-claude-code-request-class": "<b>" },
      { attributed: false, engineAgentId: undefined, requestClass: "unknown" },
    ],
    [
      "a label beyond any length",
      { ...SESSION, "x-claude-code-agent-id": "a".repeat(129) },
      { attributed: false, engineAgentId: undefined, requestClass: "unknown" },
    ],
  ])("%s", async (_name, headers, expected) => {
    await using model = await scriptedModel(() => say("hello"));
    await using fixture = await gatewayTo(model.url);
    await ask(fixture.access.url, { token: fixture.access.token, headers });
    expect(fixture.session.reserved).toMatchObject([{ ...expected, model: MESSAGE.model }]);
  });
});
