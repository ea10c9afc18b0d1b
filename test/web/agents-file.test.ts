import { expect, test } from "vitest";
import { readAgent } from "../../src/config/agent/agent-file.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { agentFileOf, definitionOf, withoutDefaults } from "../../web/src/agents/agent-file.ts";
import { definitionText, fileText, locateProblem, readText } from "../../web/src/agents/agent-text.ts";
import { files } from "../config/files.ts";

const whole = parseAgent({
  name: "clerk",
  description: "Files things: مرحبا",
  instructions: "First line\n  indented: yes\n# no comment\n\nlast ${HOME} 'x' \"y\"\n",
  instructions_mode: "append",
  model: "claude-${x}",
  fallback_model: "claude-other",
  thinking: { budget_tokens: 2048 },
  tools: ["Read", "Bash"],
  permissions: { mode: "plan", deny: ["Bash(rm *)"], ask: [{ rule: "Bash(git push *)", remember: false }] },
  budget: { usd: 2, warn_at: 0.8 },
  subagents: { clarity: { description: "Reads", instructions: "yes", tools: ["Read"] } },
  mcp_servers: {
    files: { command: "npx", args: ["-y", "${pkg}"], env: { TOKEN: "[redacted:TOKEN]", PLAIN: "on" } },
    far: { type: "http", url: "https://mcp.example.com/a", headers: { Authorization: "[redacted:Authorization]" } },
  },
  commands: { release: { prompt: "Write {{args}}" } },
  hooks: { before_tool: [{ command: "echo no", matcher: "Bash" }] },
  custom_tools: [{ name: "look_up", description: "Looks", input_schema: { type: "object" } }],
  output_schema: { type: "object", properties: { on: { type: "boolean" } } },
  skills: { style: { files: { "SKILL.md": { content: "x", encoding: "utf8" } } } },
});

test("what is copied is an agent file that the loader reads as the same agent", () => {
  using place = files({ "agent.yaml": fileText(whole, "yaml"), "agent.json": fileText(whole, "json") });
  const variables = { TOKEN: "t", FAR_AUTHORIZATION: "a" };
  const { skills: _, mcp_servers: servers, ...same } = whole;
  const { allow: __, ...permissions } = same.permissions;
  for (const name of ["agent.yaml", "agent.json"]) {
    const { written: read } = readAgent(place.at(name), variables);
    expect(read).toMatchObject({ ...same, permissions });
    expect(read.mcp_servers).toEqual({
      files: { ...servers?.["files"], env: { TOKEN: "${TOKEN}", PLAIN: "on" } },
      far: { ...servers?.["far"], headers: { Authorization: "${FAR_AUTHORIZATION}" } },
    });
  }
  expect(agentFileOf(whole).notes).toEqual([
    expect.stringContaining("The skill style is left out"),
    expect.stringContaining("Set the variable TOKEN"),
    expect.stringContaining("Set the variable FAR_AUTHORIZATION"),
  ]);
});

test("what is edited is the definition, without what it would have anyway, and is read again as it was", () => {
  expect(parseAgent(readText(definitionText(whole)).problems ?? withoutDefaults(whole))).toEqual(whole);
  expect(readText(definitionText(whole))).toEqual({ definition: withoutDefaults(whole) });
  const small = parseAgent({ name: "small", model: "m" });
  expect(definitionText(small)).toBe("name: small\nmodel: m\n");
  expect(readText(`{"name": "small", "model": "m"}`)).toEqual({ definition: { name: "small", model: "m" } });
  // A pasted agent file says it this way.
  expect(definitionOf({ $schema: "x", name: "a", instructions: { text: "Go.", mode: "append" } })).toEqual({
    name: "a",
    instructions: "Go.",
    instructions_mode: "append",
  });
});

test("what is wrong is told at its line", () => {
  const text = "name: a\npermissions:\n  deny:\n    - Bash(ls)\n    - Bsh(x)\nbudget: { usd: 2,\n  tokns: 1 }\n";
  expect(locateProblem(text, "definition.permissions.deny.1: no such tool")).toEqual({
    line: 5,
    field: "permissions.deny.1",
    text: "no such tool",
  });
  expect(locateProblem(text, `definition.budget: Unrecognized key: "tokns"`)).toMatchObject({
    line: 7,
    field: "budget",
  });
  expect(locateProblem(text, "definition.budget.usd.deep: odd")).toMatchObject({ line: 6 });
  expect(locateProblem(text, "definition.model: is missing")).toEqual({ field: "model", text: "is missing" });
  expect(locateProblem(text, `definition: Unrecognized key: "budget"`)).toEqual({
    line: 6,
    text: `Unrecognized key: "budget"`,
  });
  expect(locateProblem(text, "The server said no.")).toEqual({ text: "The server said no." });
  expect(readText("name: a\ntools: [Read\n")).toMatchObject({ problems: [{ line: 3 }] });
  expect(readText("- a\n")).toMatchObject({ problems: [{ line: 1 }] });
  expect(readText("")).toMatchObject({ problems: [{ line: 1 }] });
});
