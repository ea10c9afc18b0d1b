import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { isRemote, type McpServer } from "../../core/agent/mcp-server-schema.ts";
import { size as sizeText } from "../../words/amounts.ts";
import { color, count, duration, money, oneLine } from "../terminal/text.ts";
import type { AgentReport } from "./validate.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

type Line = readonly [label: string, text: string];

/** Describes the agent in a file. */
export function reportText(report: AgentReport, file: string): string {
  const { agent, notes, hasCredential } = report;
  const options = [...(hasCredential ? [] : ["--rehearsal"]), ...requiredInputs(agent)];
  const lines = linesOf(report).map(([label, text]) => `  ${color.dim(label.padEnd(13))} ${escapeHidden(text)}`);
  return [
    `${color.green("✓")} ${escapeHidden(file)} is valid: ${color.bold(escapeHidden(agent.name))}${agent.description ? `, ${oneLine(agent.description, 60)}` : ""}`,
    "",
    ...lines,
    "",
    ...notes.map((note) => `${color.yellow("!")} ${escapeHidden(note)}`),
    ...(notes.length > 0 ? [""] : []),
    ["Chat with it: capstan chat", escapeHidden(file), ...options].join(" "),
  ].join("\n");
}

function linesOf(report: AgentReport): Line[] {
  const { agent, sessionEnvironment: environment } = report;
  const all: readonly (readonly [label: string, text: string | undefined])[] = [
    ["model", modelOf(agent)],
    ["instructions", instructionsOf(report)],
    ["inputs", list(Object.entries(agent.inputs ?? {}).map(inputOf))],
    ["tools", list(agent.tools) ?? "none"],
    ["functions", functionsOf(report)],
    ["servers", list(Object.entries(agent.mcp_servers ?? {}).map(serverOf))],
    ["client tools", list((agent.custom_tools ?? []).map(({ name }) => name))],
    ["permissions", permissionsOf(agent)],
    ["budget", budgetOf(agent)],
    ["subagents", list(Object.keys(agent.subagents))],
    ["skills", skillsOf(agent)],
    ["commands", list(Object.keys(agent.commands ?? {}).map((name) => `/${name}`))],
    ["hooks", hooksOf(agent)],
    ["output", agent.output_schema && "matches a JSON Schema"],
    ["workspace", `${environment.workspace.kind}, sandbox ${environment.sandbox.mode}`],
    ["tests", report.tests === undefined ? undefined : casesText(report.tests)],
    ["extends", list(report.files.slice(1))],
  ];
  return all.flatMap(([label, text]): Line[] => (text === undefined ? [] : [[label, text]]));
}

function modelOf({
  model,
  fallback_model: fallback,
  effort,
  thinking,
  compact_at: size,
  auth,
}: AgentDefinition): string {
  const details = [
    fallback && `fallback ${fallback}`,
    effort && `effort ${effort}`,
    thinking && `thinking ${typeof thinking === "string" ? thinking : `${count(thinking.budget_tokens)} tokens`}`,
    size && `compacted at ${count(size)} tokens`,
    auth && `via ${auth}`,
  ].filter(Boolean);
  return [model, ...details].join(", ");
}

function instructionsOf({ agent, instructionsFile: file, promptBefore }: AgentReport): string {
  const own = `${count(agent.instructions.length)} characters${file === undefined ? "" : ` (${file})`}`;
  if (agent.instructions_mode !== "append") return own;
  const before = promptBefore === undefined ? "" : ` of ${count(promptBefore)} characters`;
  return `${own}, appended to Claude Code's prompt${before}`;
}

function inputOf([name, input]: [string, NonNullable<AgentDefinition["inputs"]>[string]]): string {
  const value = input.default === undefined ? "required" : `default ${JSON.stringify(input.default)}`;
  return `${name} (${input.type}, ${value})`;
}

function functionsOf({ agent, functionTools }: AgentReport): string | undefined {
  return list(functionTools ?? (agent.functions ?? []).map(({ module }) => module));
}

/** Shows only the host of a URL, because the rest may contain keys. */
function serverOf([name, server]: [string, McpServer]): string {
  return `${name} (${isRemote(server) ? `${server.type} ${URL.parse(server.url)?.host}` : server.command})`;
}

function permissionsOf({ permissions: { mode, allow, ask, deny } }: AgentDefinition): string {
  const rules = { allow, ask: ask.map((entry) => (typeof entry === "string" ? entry : entry.rule)), deny };
  const lists = Object.entries(rules).flatMap(([kind, all]) => (all.length === 0 ? [] : [`${kind} ${all.join(", ")}`]));
  return [mode, ...lists].join("; ");
}

function budgetOf({ budget }: AgentDefinition): string {
  const { usd, deadline_ms: deadline, warn_at: _warn, ask_at: _ask, ...counts } = budget;
  const limits = [
    usd && money(usd),
    ...Object.entries(counts).map(([name, limit]) => `${count(limit ?? 0)} ${name.replaceAll("_", " ")}`),
    deadline && `${duration(deadline)} per turn`,
  ].filter(Boolean);
  return limits.length === 0 ? "no limits" : limits.join(", ");
}

function skillsOf({ skills = {} }: AgentDefinition): string | undefined {
  return list(
    Object.entries(skills).map(([name, { files }]) => {
      const all = Object.values(files);
      const bytes = all.reduce((sum, { content }) => sum + content.length, 0);
      return `${name} (${all.length} ${all.length === 1 ? "file" : "files"}, ${sizeText(bytes)})`;
    }),
  );
}

function hooksOf({ hooks = {} }: AgentDefinition): string | undefined {
  return list(Object.entries(hooks).flatMap(([kind, all]) => (all.length === 0 ? [] : [`${kind} (${all.length})`])));
}

/** The flags for inputs without a default. */
function requiredInputs({ inputs = {} }: AgentDefinition): string[] {
  return Object.entries(inputs)
    .filter(([, input]) => input.default === undefined)
    .map(([name]) => `--input ${name}=…`);
}

export function casesText(cases: number): string {
  return `${count(cases)} ${cases === 1 ? "case" : "cases"}`;
}

function list(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : names.join(", ");
}
