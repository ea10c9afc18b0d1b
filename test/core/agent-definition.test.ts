import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type AgentInput, agentDefinition, parseAgent } from "../../src/core/agent-definition.ts";

const least: AgentInput = { name: "clerk", model: "claude-opus-4-8" };

describe("an agent definition", () => {
  test("needs a name and a model, and has a default for all else", () => {
    expect(parseAgent(least)).toEqual({
      name: "clerk",
      model: "claude-opus-4-8",
      instructions: "",
      tools: [],
      permissions: { mode: "normal", allow: [], ask: [], deny: [] },
      budget: {},
      subagents: {},
    });
  });

  test("is kept as it was written", () => {
    const full: AgentInput = {
      ...least,
      instructions: "Be brief.",
      tools: ["Read", "mcp__files__list"],
      permissions: { mode: "plan", allow: ["Read"], ask: ["Bash"], deny: ["WebFetch"] },
      budget: { usd: 0.5, tokens: 1000, turns: 3, steps: 20, tool_calls: 10, deadline_ms: 60_000 },
      subagents: { reviewer: { description: "Reviews.", instructions: "Review.", tools: ["Read"], model: "haiku" } },
      output_schema: { type: "object" },
    };
    expect(parseAgent(full)).toEqual(full);
    expect(parseAgent(parseAgent(full))).toEqual(full);
  });

  const subagent = { description: "Reviews.", instructions: "Review." };
  test.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /agent: /],
    ["a list", [], /agent: /],
    ["no name", { model: "m" }, /name: /],
    ["no model", { name: "a" }, /model: /],
    ["an empty model", { ...least, model: "" }, /model: /],
    ["a name in capitals", { ...least, name: "Clerk" }, /name: lower-case letters, digits and dashes/],
    ["a name that is too long", { ...least, name: "a".repeat(64) }, /name: /],
    ["an unknown key", { ...least, temperature: 1 }, /"temperature"/],
    ["an unknown key in permissions", { ...least, permissions: { allowed: [] } }, /permissions: .*"allowed"/],
    ["an unknown key in the budget", { ...least, budget: { dollars: 1 } }, /budget: .*"dollars"/],
    [
      "an unknown key in a subagent",
      { ...least, subagents: { reviewer: { ...subagent, prompt: "" } } },
      /subagents\.reviewer: .*"prompt"/,
    ],
    ["an unknown mode", { ...least, permissions: { mode: "careful" } }, /permissions\.mode: /],
    [
      "a rule with a pattern",
      { ...least, permissions: { deny: ["Read", "Bash(rm *)"] } },
      /permissions\.deny\.1: .*without a pattern/,
    ],
    ["a tool with a pattern", { ...least, tools: ["Bash(ls)"] }, /tools\.0: /],
    ["no money at all", { ...least, budget: { usd: 0 } }, /budget\.usd: /],
    ["half a turn", { ...least, budget: { turns: 0.5 } }, /budget\.turns: /],
    [
      "a subagent without instructions",
      { ...least, subagents: { a: { description: "x" } } },
      /subagents\.a\.instructions: /,
    ],
    ["a subagent with a bad name", { ...least, subagents: { "A b": subagent } }, /subagents\.A b: /],
    ["an output schema that is no object", { ...least, output_schema: "string" }, /output_schema: /],
  ])("with %s is refused, naming the field", (_what, input, problem) => {
    expect(() => parseAgent(input)).toThrow(
      expect.objectContaining({ code: "invalid_agent", message: expect.stringMatching(problem) }),
    );
  });

  test("with several mistakes is told all of them", () => {
    const mistaken = { ...least, model: 5, tools: "Read", color: "red" };
    expect(() => parseAgent(mistaken)).toThrow(
      expect.objectContaining({
        data: {
          problems: [
            expect.stringMatching(/^model: /),
            expect.stringMatching(/^tools: /),
            expect.stringMatching(/^agent: .*"color"/),
          ],
        },
      }),
    );
  });
});

/** field → the words in the source that read it. A field that nothing reads must not be accepted from users. */
const CONSUMERS: Readonly<Record<string, string>> = {
  instructions: "agent.instructions",
  model: "agent.model",
  tools: "agent.tools",
  "permissions.mode": "permissions.mode",
  "permissions.allow": "rules.allow",
  "permissions.ask": "rules.ask",
  "permissions.deny": "rules.deny",
  "budget.usd": "budget.usd",
  "budget.tokens": "budget.tokens",
  "budget.turns": "budget.turns",
  "budget.steps": "budget.steps",
  "budget.tool_calls": "budget.tool_calls",
  "budget.deadline_ms": "budget.deadline_ms",
  "subagents.*.description": "{ description, instructions, tools, model }",
  "subagents.*.instructions": "{ description, instructions, tools, model }",
  "subagents.*.tools": "{ description, instructions, tools, model }",
  "subagents.*.model": "{ description, instructions, tools, model }",
  output_schema: "agent.output_schema",
};
/** Words for people, which the program passes on without looking at them. */
const LABELS = ["name"];

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | false;
}

/** Objects and records with a shape of their own are looked into; an open record, such as a JSON Schema, is one field. */
function fieldsOf({ properties = {}, additionalProperties }: JsonSchema, path: readonly string[] = []): string[] {
  const inner = {
    ...properties,
    ...(additionalProperties && additionalProperties.properties && { "*": additionalProperties }),
  };
  if (Object.keys(inner).length === 0) return [path.join(".")];
  return Object.entries(inner).flatMap(([key, schema]) => fieldsOf(schema, [...path, key]));
}

describe("every field of an agent definition", () => {
  const source = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith("agent-definition.ts"))
    .map((file) => readFileSync(`src/${file}`, "utf8"))
    .join("\n");

  test("has a consumer", () => {
    const fields = fieldsOf(z.toJSONSchema(agentDefinition, { io: "input" }) as JsonSchema);
    expect(fields.toSorted()).toEqual([...Object.keys(CONSUMERS), ...LABELS].toSorted());
  });

  test.each(Object.entries(CONSUMERS))("%s is used in the source", (_field, words) => {
    expect(source.includes(words)).toBe(true);
  });
});
