import { describe, expect, test } from "vitest";
import { say, scriptedModel } from "../support/scripted-model.ts";
import { ask, gatewayTo, MESSAGE } from "./support.ts";

const SESSION = { "x-claude-code-session-id": "1e213e4f-4d1c-4842-b73e-da52420c66e1" };

describe("a request is attributed by its headers", () => {
  test.each([
    ["the main line", SESSION, { engineAgentId: undefined, requestClass: "unknown" }],
    [
      "a subagent",
      { ...SESSION, "X-Claude-Code-Agent-Id": "a876dc9f0fad5a057", "x-claude-code-request-class": "subagent" },
      { engineAgentId: "a876dc9f0fad5a057", requestClass: "subagent" },
    ],
    [
      "a side query of the main line",
      { ...SESSION, "x-claude-code-request-class": "auxiliary" },
      { engineAgentId: undefined, requestClass: "auxiliary" },
    ],
  ])("%s", async (_name, headers, expected) => {
    await using model = await scriptedModel(() => say("hello"));
    await using fixture = await gatewayTo(model.url);
    await ask(fixture.access.url, { token: fixture.access.token, headers });
    expect(fixture.session.reserved).toMatchObject([{ ...expected, model: MESSAGE.model }]);
  });
});

describe("a request that does not say which line it belongs to is refused", () => {
  test.each([
    ["no session label", { "x-claude-code-session-id": "" }],
    ["an agent id that is no label", { ...SESSION, "x-claude-code-agent-id": "../../x y" }],
    ["a label beyond any length", { ...SESSION, "x-claude-code-agent-id": "a".repeat(129) }],
  ])("%s", async (_name, headers) => {
    await using model = await scriptedModel(() => say("hello"));
    await using fixture = await gatewayTo(model.url);
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const answer = await ask(fixture.access.url, { token: fixture.access.token, headers, path });
      expect(answer).toMatchObject({ status: 403, error: { type: "permission_error" } });
    }
    expect(fixture.session.reserved).toEqual([]);
    expect(model.requests).toEqual([]);
  });
});
