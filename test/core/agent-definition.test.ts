import { describe, expect, test } from "vitest";
import { type AgentInput, parseAgent } from "../../src/core/agent/agent-definition.ts";

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
      description: "Helps.",
      instructions: "Be brief in {{language}}.",
      instructions_mode: "append",
      inputs: { language: { type: "string", default: "French", enum: ["French"] } },
      fallback_model: "haiku",
      effort: "low",
      thinking: { budget_tokens: 2000 },
      auth: "bedrock",
      functions: [{ module: "/srv/tools.ts", exports: ["order"] }],
      skills: { tidy: { files: { "SKILL.md": { content: "Tidy up.", encoding: "utf8" } } } },
      commands: { go: { description: "Goes.", prompt: "Go {{args}}." } },
      setting_sources: ["project"],
      tools: ["Read", "mcp__files__list"],
      permissions: {
        mode: "plan",
        allow: ["Read", "Bash(npm run *)"],
        ask: ["Bash", { rule: "Bash(git push *)", remember: false }],
        deny: ["WebFetch", "Read(./secrets/**)", "*"],
      },
      budget: { usd: 0.5, tokens: 1000, turns: 3, steps: 20, tool_calls: 10, deadline_ms: 60_000 },
      subagents: { reviewer: { description: "Reviews.", instructions: "Review.", tools: ["Read"], model: "haiku" } },
      mcp_servers: {
        files_2: { command: "npx", args: ["-y", "server"], env: { TOKEN: "t" }, outside_sandbox: true },
        shop: { type: "http", url: "https://shop.example/mcp", headers: { "X-Shop": "1" }, tools: { "*": "ask" } },
      },
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
      /custom_tools\.0\.name: names that start with mcp__/,
    ],
    [
      "two custom tools of one name",
      { ...least, custom_tools: [lookup, lookup] },
      /custom_tools\.1\.name: two tools are named lookup/,
    ],
    ["effort without end", { ...least, effort: "endless" }, /effort: /],
    ["too few tokens to think with", { ...least, thinking: { budget_tokens: 10 } }, /thinking/],
    ["a relative module", { ...least, functions: [{ module: "tools.ts" }] }, /functions\.0\.module: an absolute path/],
    ["a skill without its file", { ...least, skills: { tidy: { files: {} } } }, /skills\.tidy\.files: .*SKILL\.md/],
    [
      "a skill with a file elsewhere",
      { ...least, skills: { tidy: { files: { "../x": { content: "", encoding: "utf8" } } } } },
      /skills\.tidy\.files/,
    ],
    ["settings of the user's", { ...least, setting_sources: ["user"] }, /setting_sources\.0: /],
    ["an unknown provider", { ...least, auth: "elsewhere" }, /auth: /],
    ["a command with a bad name", { ...least, commands: { "Go!": { prompt: "x" } } }, /commands\.Go!: /],
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
