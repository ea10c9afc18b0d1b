import { describe, expect, test } from "vitest";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import { requireKnownTools } from "../../src/engines/rule-tools.ts";
import { defineTool } from "../../src/index.ts";
import { z } from "zod";

const deploy: Tool = defineTool({ name: "deploy", description: "Deploys.", input: z.object({}), handler: () => "" });

function check(permissions: object): void {
  requireKnownTools({ agent: parseAgent({ name: "a", model: "m", permissions }), tools: [deploy] });
}

describe("a rule for a tool", () => {
  test("that the engine, the host or a server has is taken", () => {
    check({
      allow: ["bash", "deploy"],
      ask: ["*", { rule: "Read", remember: false }],
      deny: ["mcp__any__tool", "Edit(a)"],
    });
  });

  test("that a client of the agent has is taken", () => {
    const lookup = { name: "lookup", description: "Looks up.", input_schema: { type: "object" } };
    const agent = parseAgent({ name: "a", model: "m", permissions: { deny: ["lookup"] }, custom_tools: [lookup] });
    requireKnownTools({ agent, tools: [] });
  });

  test("that nobody has is refused with the nearest name, and all of them at once", () => {
    expect(() => check({ allow: ["Bsah"], ask: [{ rule: "dploy", remember: false }], deny: ["Zebra"] })).toThrow(
      expect.objectContaining({
        code: "invalid_agent",
        data: {
          problems: [
            expect.stringMatching(/^permissions\.allow: .*Bsah.*Did you mean Bash\?/),
            expect.stringMatching(/^permissions\.ask: .*dploy.*Did you mean deploy\?/),
            expect.stringMatching(/^permissions\.deny: .*Zebra.*Known tools: /),
          ],
        },
      }),
    );
  });
});
