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
      permissions: {
        mode: "plan",
        allow: ["Read", "Bash(npm run *)"],
        ask: ["Bash", { rule: "Bash(git push *)", remember: false }],
        deny: ["WebFetch", "Read(./secrets/**)", "*"],
      },
      budget: { usd: 0.5, tokens: 1000, turns: 3, steps: 20, tool_calls: 10, deadline_ms: 60_000 },
      subagents: { reviewer: { description: "Reviews.", instructions: "Review.", tools: ["Read"], model: "haiku" } },
      mcp_servers: { files_2: { command: "npx", args: ["-y", "server"], env: { TOKEN: "t" }, outside_sandbox: true } },
      custom_tools: [
        { name: "lookup", description: "Looks up.", input_schema: { type: "object", properties: { key: {} } } },
      ],
      output_schema: { type: "object" },
      hooks: {
        before_prompt: [{ command: "grep -v password", on_failure: "continue" }],
        before_tool: [
          { name: "no pushes", command: ["./check", "--push"], matcher: "Bash(git push *)", timeout_ms: 5000 },
        ],
        after_tool: [{ command: "cat >> calls.log", matcher: "Bash" }],
        on_turn_end: [{ command: ["notify"] }],
        on_session_end: [{ command: ["notify"] }],
      },
    };
    expect(parseAgent(full)).toEqual(full);
    expect(parseAgent(parseAgent(full))).toEqual(full);
  });

  const lookup = { name: "lookup", description: "Looks up.", input_schema: { type: "object" } };
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
      "a malformed rule",
      { ...least, permissions: { deny: ["Read", "Bash(rm *"] } },
      /permissions\.deny\.1: expected a closing parenthesis/,
    ],
    [
      "a malformed ask rule",
      { ...least, permissions: { ask: [{ rule: "Bash(", remember: false }] } },
      /permissions\.ask\.0\.rule: expected a closing parenthesis/,
    ],
    ["a rule that allows everything", { ...least, permissions: { allow: ["*"] } }, /permissions\.allow\.0: .*yolo/],
    ["a tool with a pattern", { ...least, tools: ["Bash(ls)"] }, /tools\.0: /],
    ["no money at all", { ...least, budget: { usd: 0 } }, /budget\.usd: /],
    ["half a turn", { ...least, budget: { turns: 0.5 } }, /budget\.turns: /],
    ["money that is owed", { ...least, budget: { usd: -1 } }, /budget\.usd: /],
    ["more money than there is", { ...least, budget: { usd: 1e12 } }, /budget\.usd: /],
    ["tokens without end", { ...least, budget: { tokens: Number.POSITIVE_INFINITY } }, /budget\.tokens: /],
    ["a share above the whole", { ...least, budget: { ask_at: 1.5 } }, /budget\.ask_at: /],
    ["a share of nothing", { ...least, budget: { warn_at: 0 } }, /budget\.warn_at: /],
    [
      "a subagent without instructions",
      { ...least, subagents: { a: { description: "x" } } },
      /subagents\.a\.instructions: /,
    ],
    ["a subagent with a bad name", { ...least, subagents: { "A b": subagent } }, /subagents\.A b: /],
    ["a hook of a kind that is not there", { ...least, hooks: { before_lunch: [] } }, /hooks: .*"before_lunch"/],
    ["a hook without a command", { ...least, hooks: { before_tool: [{}] } }, /hooks\.before_tool\.0\.command: /],
    [
      "a hook with an empty command",
      { ...least, hooks: { on_turn_end: [{ command: [] }] } },
      /hooks\.on_turn_end\.0\.command: /,
    ],
    [
      "a hook with a malformed matcher",
      { ...least, hooks: { before_tool: [{ command: "x", matcher: "Bash(" }] } },
      /hooks\.before_tool\.0\.matcher: expected a closing parenthesis/,
    ],
    [
      "a hook with a matcher where there is no call",
      { ...least, hooks: { before_prompt: [{ command: "x", matcher: "Bash" }] } },
      /hooks\.before_prompt\.0: .*"matcher"/,
    ],
    [
      "a hook that would deny the past",
      { ...least, hooks: { after_tool: [{ command: "x", on_failure: "deny" }] } },
      /hooks\.after_tool\.0: .*"on_failure"/,
    ],
    [
      "a hook with no time",
      { ...least, hooks: { before_tool: [{ command: "x", timeout_ms: 0 }] } },
      /hooks\.before_tool\.0\.timeout_ms: /,
    ],
    ["a server without a command", { ...least, mcp_servers: { files: {} } }, /mcp_servers\.files\.command: /],
    [
      "a server elsewhere",
      { ...least, mcp_servers: { files: { command: "x", url: "http://x" } } },
      /mcp_servers\.files: .*"url"/,
    ],
    [
      "a server with the host's name",
      { ...least, mcp_servers: { Capstan: { command: "x" } } },
      /mcp_servers\.Capstan: the name capstan is reserved/,
    ],
    ["a server that looks like a tool", { ...least, mcp_servers: { a__b: { command: "x" } } }, /single underscores/],
    [
      "a variable that is none",
      { ...least, mcp_servers: { files: { command: "x", env: { "A B": "" } } } },
      /mcp_servers\.files\.env/,
    ],
    ["a custom tool without a schema", { ...least, custom_tools: [{ name: "a", description: "x" }] }, /input_schema: /],
    [
      "a custom tool whose input is no object",
      { ...least, custom_tools: [{ ...lookup, input_schema: { type: "string" } }] },
      /custom_tools\.0\.input_schema: its type must be "object"/,
    ],
    [
      "a custom tool with a choice at the top",
      { ...least, custom_tools: [{ ...lookup, input_schema: { type: "object", oneOf: [] } }] },
      /custom_tools\.0\.input_schema: it has oneOf at the top/,
    ],
    [
      "a custom tool with properties that are none",
      { ...least, custom_tools: [{ ...lookup, input_schema: { type: "object", properties: null, required: "key" } }] },
      /properties must be an object.*required must be a list of names/,
    ],
    [
      "a custom tool with an unknown key",
      { ...least, custom_tools: [{ ...lookup, url: "http://x" }] },
      /custom_tools\.0: .*"url"/,
    ],
    ["a custom tool with a bad name", { ...least, custom_tools: [{ ...lookup, name: "1 a" }] }, /up to 64 letters/],
    ["a custom tool with a long name", { ...least, custom_tools: [{ ...lookup, name: "a".repeat(65) }] }, /up to 64/],
    [
      "a custom tool with the name of a built-in one",
      { ...least, custom_tools: [{ ...lookup, name: "ask_user_question" }] },
      /custom_tools\.0\.name: .*built-in tool AskUserQuestion/,
    ],
    [
      "a custom tool that looks like a server's",
      { ...least, custom_tools: [{ ...lookup, name: "mcp__a__b" }] },
      /custom_tools\.0\.name: names that begin with mcp__/,
    ],
    [
      "two custom tools of one name",
      { ...least, custom_tools: [lookup, lookup] },
      /custom_tools\.1\.name: two tools are named lookup/,
    ],
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
  "permissions.approvals_expire_ms": "approvals_expire_ms: lifetime",
  "budget.usd": "budget.usd",
  "budget.tokens": "budget.tokens",
  "budget.turns": "budget.turns",
  "budget.steps": "budget.steps",
  "budget.tool_calls": "budget.tool_calls",
  "budget.deadline_ms": "budget.deadline_ms",
  "budget.input_tokens": "budget.input_tokens",
  "budget.output_tokens": "budget.output_tokens",
  "budget.cache_tokens": "budget.cache_tokens",
  "budget.warn_at": "limits.warn_at",
  "budget.ask_at": "limits.ask_at",
  "subagents.*.description": "{ description, instructions, tools, model }",
  "subagents.*.instructions": "{ description, instructions, tools, model }",
  "subagents.*.tools": "{ description, instructions, tools, model }",
  "subagents.*.model": "{ description, instructions, tools, model }",
  "mcp_servers.*.command": "{ command, args, env, outside_sandbox: isOutside = false }: McpServer",
  "mcp_servers.*.args": "{ command, args, env, outside_sandbox: isOutside = false }: McpServer",
  "mcp_servers.*.env": "{ command, args, env, outside_sandbox: isOutside = false }: McpServer",
  "mcp_servers.*.outside_sandbox": "{ command, args, env, outside_sandbox: isOutside = false }: McpServer",
  "custom_tools.*.name": "asTool({ name, description, input_schema }",
  "custom_tools.*.description": "asTool({ name, description, input_schema }",
  "custom_tools.*.input_schema": "asTool({ name, description, input_schema }",
  output_schema: "agent.output_schema",
  // Each kind by its name, each field of a hook where hooks are listed.
  ...Object.fromEntries(
    ["before_prompt", "before_tool", "after_tool", "on_turn_end", "on_session_end"].flatMap((kind) => [
      [`hooks.${kind}.*.name`, `list("${kind}")`],
      [`hooks.${kind}.*.command`, "does: { command }"],
      [`hooks.${kind}.*.timeout_ms`, "timeout_ms: timeoutMs"],
      ...(kind.startsWith("before_") ? [[`hooks.${kind}.*.on_failure`, "on_failure: onFailure"]] : []),
      ...(kind.endsWith("_tool") ? [[`hooks.${kind}.*.matcher`, "parseRule(matcher)"]] : []),
    ]),
  ),
};
/** Words for people, which the program passes on without looking at them. */
const LABELS = ["name"];

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | false;
  readonly items?: JsonSchema;
}

/**
 * Objects, and records and lists of such, are looked into; an open record, such as a JSON Schema, is one field.
 */
function fieldsOf(
  { properties = {}, additionalProperties, items }: JsonSchema,
  path: readonly string[] = [],
): string[] {
  const inner = {
    ...properties,
    ...(additionalProperties && additionalProperties.properties && { "*": additionalProperties }),
    ...(items?.properties && { "*": items }),
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
