import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import {
  type Ability,
  CAPABILITIES,
  type CapabilityName,
  type EngineCapabilities,
  problemsWithEngine,
} from "../../src/core/ports/engine-capabilities.ts";
import { claudeCapabilities } from "../../src/engines/claude/capabilities.ts";
import { directCapabilities } from "../../src/engines/direct/capabilities.ts";
import { agent } from "../support/host.ts";

/** Each engine's column of the table in docs/engines.md, in this order. */
const ENGINES: Readonly<Record<string, EngineCapabilities>> = {
  claude: claudeCapabilities,
  direct: directCapabilities,
};

test("docs/engines.md has the capabilities of each engine", () => {
  const rows = Object.entries(CAPABILITIES).map(([name, { title }]) => [
    title,
    ...Object.values(ENGINES).map((capabilities) => cell(capabilities[name as CapabilityName])),
  ]);
  const header = ["capability", ...Object.keys(ENGINES).map((engine) => `\`${engine}\``)];
  const table = [header, header.map(() => "---"), ...rows].map((cells) =>
    cells[0] === "---" ? `|${cells.join("|")}|` : `| ${cells.join(" | ")} |`,
  );
  expect(readFileSync("docs/engines.md", "utf8")).toContain(`\n${table.join("\n")}\n`);
});

function cell(ability: Ability): string {
  if (ability === true) return "yes";
  if ("least" in ability) return `${thousands(ability.least)} to ${thousands(ability.most)}`;
  return "lacks" in ability ? `no: it ${ability.lacks}` : `yes: ${ability.note}`;
}

function thousands(value: number): string {
  return value.toLocaleString("en-US");
}

function sizeProblems(size: number, name: string): readonly string[] {
  const capabilities = ENGINES[name] ?? claudeCapabilities;
  return problemsWithEngine({ name, capabilities }, { agent: parseAgent(agent({ compact_at: size })) });
}

test("a size that the engine cannot use is refused with those that it can", () => {
  expect(sizeProblems(66_999, "claude")).toEqual([
    "compact_at: the claude engine cannot use 66999. Use 67000 to 967000.",
  ]);
  expect(sizeProblems(967_001, "claude")).toHaveLength(1);
  expect(sizeProblems(67_000, "claude")).toEqual([]);
  expect(sizeProblems(9_999, "direct")).toEqual([
    "compact_at: the direct engine cannot use 9999. Use 10000 to 967000.",
  ]);
  expect(sizeProblems(10_000, "direct")).toEqual([]);
});

describe("an engine that lacks everything", () => {
  const lacking = Object.fromEntries(
    Object.keys(CAPABILITIES).map((name) => [name, { lacks: `has no ${name}` }]),
  ) as unknown as EngineCapabilities;
  const problems = (given: Parameters<typeof agent>[0], more: object = {}) =>
    problemsWithEngine({ name: "plain", capabilities: lacking }, { agent: parseAgent(agent(given)), ...more });
  const skill = { files: { "SKILL.md": { content: "x", encoding: "utf8" as const } } };

  test.each<[field: string, capability: CapabilityName, given: Parameters<typeof agent>[0], more?: object]>([
    ["subagents", "subagents", { subagents: { helper: { description: "helps", instructions: "Help." } } }],
    [
      "custom_tools",
      "custom_tools",
      { custom_tools: [{ name: "a", description: "a", input_schema: { type: "object" } }] },
    ],
    ["mcp_servers.near", "mcp_programs", { mcp_servers: { near: { command: "x" } } }],
    ["mcp_servers.far", "mcp_remote", { mcp_servers: { far: { type: "http", url: "https://example.com" } } }],
    ["tools: AskUserQuestion", "questions", { tools: ["AskUserQuestion"] }],
    ["permissions.mode", "plan_mode", { permissions: { mode: "plan" } }],
    ["tools: TaskList", "tasks", { tools: ["TaskList"] }],
    ["tools: WebFetch", "web_fetch", { tools: ["WebFetch"] }],
    ["tools: WebSearch", "web_search", { tools: ["WebSearch"] }],
    ["tools: NotebookEdit", "notebooks", { tools: ["NotebookEdit"] }],
    ["output_schema", "structured_output", { output_schema: { type: "object" } }],
    ["compact_at", "compact_at", { compact_at: 100_000 }],
    ["thinking", "thinking", { thinking: "disabled" }],
    ["effort", "effort", { effort: "low" }],
    ["fallback_model", "fallback_model", { fallback_model: "claude-haiku-4-5" }],
    ["skills", "skills", { skills: { greeting: skill } }],
    ["setting_sources", "project_file", { setting_sources: ["project"] }],
    ["instructions_mode", "engine_prompt", { instructions_mode: "append" }],
    ["environment.sandbox", "sandbox", {}, { sandbox: { mode: "required" } }],
    ["environment.limits", "process_limits", {}, { limits: { processes: 9 } }],
  ])("refuses an agent that asks for %s", (field, capability, given, more) => {
    expect(problems(given, more)).toEqual([
      `${field}: the plain engine has no ${capability}. Remove it, or choose another engine.`,
    ]);
  });

  test("names the tools of a subagent too", () => {
    const helper = { description: "helps", instructions: "Help.", tools: ["WebSearch"] };
    const able = { ...lacking, subagents: true } as const;
    const wanted = { agent: parseAgent(agent({ subagents: { helper } })) };
    expect(problemsWithEngine({ name: "plain", capabilities: able }, wanted)).toEqual([
      "subagents.helper.tools: WebSearch: the plain engine has no web_search. Remove it, or choose another engine.",
    ]);
  });

  test("takes an agent that asks for none of it", () => {
    expect(problems({ tools: ["Bash", "Read"] }, { sandbox: { mode: "preferred" }, limits: {} })).toEqual([]);
  });
});
