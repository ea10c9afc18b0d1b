import { inputsIn } from "../core/agent-inputs.ts";
import { CapstanError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { readRule, unknownTool } from "../core/permission/rule.ts";
import { BUILT_IN_TOOLS } from "../core/permission/tool-names.ts";
import type { AgentPart } from "./agent-part.ts";
import { type AgentSource, inner } from "./agent-source.ts";
import type { Problem } from "./problems.ts";

/** The tools that an agent may be given: all but those that come with a mode or with skills. */
export const AGENT_TOOLS = BUILT_IN_TOOLS.filter((tool) => !["EnterPlanMode", "ExitPlanMode", "Skill"].includes(tool));

/** What can only be seen when all files of an agent are together. Topmost file first. */
export interface WholeAgent {
  readonly sources: readonly [AgentSource, ...AgentSource[]];
  readonly parts: readonly AgentPart[];
  readonly merged: AgentPart;
}

/** Throws what is wrong with names that must fit together: inputs and instructions, tools and rules. */
export function requireConsistent({ sources, parts, merged }: WholeAgent): void {
  const [top] = sources;
  const nameless: Problem = { path: ["name"], at: "value", text: "expected text (found nothing)" };
  const problems = new Map(sources.map((source): [AgentSource, Problem[]] => [source, []]));
  if (merged.name === undefined) problems.get(top)?.push(nameless);
  for (const [index, source] of sources.entries()) {
    const part = parts[index] ?? {};
    const isShown = parts.findIndex(({ instructions }) => instructions !== undefined) === index;
    problems
      .get(source)
      ?.push(
        ...(isShown ? unknownInputs(part, source, merged) : []),
        ...unusedInputs(part, merged),
        ...unknownTools(part, source, merged),
        ...unknownInRules(part, merged),
      );
  }
  const errors = [...problems].flatMap(([source, all]) => (all.length === 0 ? [] : [source.error(all)]));
  const [first] = errors;
  if (first === undefined) return;
  const lines = errors.flatMap((error) => inner(error, []).map(({ text }) => text));
  throw new CapstanError(first.code, lines.join("\n"), { data: { file: top.file, problems: lines } });
}

function unknownInputs(part: AgentPart, { written }: AgentSource, { inputs = {} }: AgentPart): Problem[] {
  const { instructions = "", instructions_file: file } = part;
  const known = Object.keys(inputs);
  const path = typeof written.instructions === "string" ? ["instructions"] : ["instructions", file ? "file" : "text"];
  return inputsIn(instructions)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const place = file === undefined ? "" : `${placeOf(instructions, name, file)} `;
      const meant = nearest(name, known);
      const remedy = meant === undefined ? `declare ${name} under inputs` : `did you mean {{${meant}}}?`;
      return { path, at: "value", text: `${place}{{${name}}} is none of the agent's inputs; ${remedy}` };
    });
}

function placeOf(text: string, name: string, file: string): string {
  const before = text.slice(0, text.search(new RegExp(String.raw`\{\{\s*${name}\s*\}\}`))).split("\n");
  return `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

function unusedInputs({ inputs = {} }: AgentPart, { instructions = "", inputs: kept = {} }: AgentPart): Problem[] {
  const used = inputsIn(instructions);
  return Object.keys(inputs)
    .filter((name) => Object.hasOwn(kept, name) && !used.includes(name))
    .map((name) => {
      const text = `nothing uses this input; write {{${name}}} in the instructions, or remove it`;
      return { path: ["inputs", name], at: "key", text };
    });
}

function unknownTools(
  { tools = [], subagents = {} }: AgentPart,
  { written }: AgentSource,
  merged: AgentPart,
): Problem[] {
  const own = Array.isArray(tools)
    ? tools.map((tool, index) => ({ tool, path: ["tools", index], at: "value" as const }))
    : Object.keys(tools).map((tool) => ({ tool, path: ["tools", tool], at: "key" as const }));
  const ofSubagents = Object.entries(subagents).flatMap(([name, subagent]) => {
    const isFile = typeof written.subagents?.[name] === "string";
    return (subagent.tools ?? []).map((tool, index) => {
      const path = ["subagents", name, ...(isFile ? [] : ["tools", index])];
      return { tool, path, at: "value" as const };
    });
  });
  return [...own, ...ofSubagents].flatMap(({ tool, path, at }) => {
    const text = problemWithTool(tool, merged);
    return text === undefined ? [] : [{ path, at, text }];
  });
}

function problemWithTool(
  tool: string,
  { mcp_servers: servers = {}, custom_tools: custom = [], functions }: AgentPart,
): string | undefined {
  const server = /^mcp__(.+?)__./.exec(tool)?.[1];
  if (server !== undefined) {
    if (Object.hasOwn(servers, server)) return undefined;
    const meant = nearest(server, Object.keys(servers));
    return `there is no server ${server} in mcp_servers${meant === undefined ? "" : `; did you mean ${meant}?`}`;
  }
  const known = [...AGENT_TOOLS, ...custom.map(({ name }) => name)];
  // What a module exports is known when it is loaded.
  if (known.includes(tool) || functions !== undefined) return undefined;
  const meant = nearest(tool, known);
  return `there is no tool named ${tool}; ${meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${meant}?`}`;
}

/** A rule for a tool that does not exist protects nothing: somebody mistyped it. */
function unknownInRules({ permissions = {}, hooks = {} }: AgentPart, merged: AgentPart): Problem[] {
  const { custom_tools: custom = [], functions } = merged;
  if (functions !== undefined) return [];
  const known = [...BUILT_IN_TOOLS, ...custom.map(({ name }) => name)];
  const { allow = [], ask = [], deny = [] } = permissions;
  const listed = Object.entries({ allow, ask, deny }).flatMap(([list, entries]) =>
    entries.map((entry, index) =>
      typeof entry === "string"
        ? { rule: entry, path: ["permissions", list, index] }
        : { rule: entry.rule, path: ["permissions", list, index, "rule"] },
    ),
  );
  const { before_tool: before = [], after_tool: after = [] } = hooks;
  const matchers = Object.entries({ before_tool: before, after_tool: after }).flatMap(([kind, all]) =>
    all.flatMap(({ matcher }, index) =>
      matcher === undefined ? [] : [{ rule: matcher, path: ["hooks", kind, index, "matcher"] }],
    ),
  );
  return [...listed, ...matchers].flatMap(({ rule, path }) => {
    const read = readRule(rule);
    const text = typeof read === "string" ? read : unknownTool(read, known);
    return text === undefined ? [] : [{ path, at: "value", text }];
  });
}
