import { HOST_SERVER } from "../../core/agent/mcp-server-schema.ts";
import { nearest } from "../../core/text/nearest.ts";
import { readRule, type Rule, unknownTool } from "../../core/rules/rule.ts";
import { BUILT_IN_TOOLS } from "../../core/rules/tool-names.ts";
import { toolList } from "./agent-merge.ts";
import type { AgentPart } from "./agent-part.ts";
import type { AgentSource } from "./agent-source.ts";
import type { Problem } from "../yaml/problems.ts";
import { providerLack } from "../../core/agent/provider-limits.ts";

/** The tools that an agent may list: all except those that come with a mode or with skills. */
export const AGENT_TOOLS = BUILT_IN_TOOLS.filter((tool) => !["EnterPlanMode", "ExitPlanMode", "Skill"].includes(tool));

/** A name that only a function can provide: this is known when its module is loaded. */
export interface UncheckedName {
  readonly path: readonly PropertyKey[];
  readonly name: string;
}

interface Findings {
  readonly problems: readonly Problem[];
  readonly unchecked: readonly UncheckedName[];
}

/** The possible tool names of an agent. */
interface Names {
  /** The agent's own tools, besides the built-in ones. */
  readonly own: readonly string[];
  /** Whether functions may provide others. */
  readonly hasFunctions: boolean;
  /** Whether there may be others, because the field that lists them has problems. */
  readonly isDoubtful: boolean;
  /** Undefined: unknown, for the same reason. */
  readonly servers: readonly string[] | undefined;
}

/** The problem with a name. With `mayCome`, it is one only if no function provides a tool of that name. */
interface Verdict {
  readonly text: string;
  readonly mayCome?: string | undefined;
}

/** The problems with the tools and rules of one file, given all files of the agent. */
export function toolFindings(
  part: AgentPart,
  { written }: Pick<AgentSource, "written">,
  { merged, doubtful }: { readonly merged: AgentPart; readonly doubtful: ReadonlySet<string> },
): Findings {
  const names = namesIn(merged, doubtful);
  const uses = usesIn(part, written);
  const wrong = [
    ...uses.map(({ tool, path, at }) => ({ path, at, verdict: problemWithTool(tool, names) })),
    ...rulesIn(part).map(({ rule, path }) => ({ path, at: "value" as const, verdict: problemWithRule(rule, names) })),
  ];
  return {
    problems: [
      ...wrong.flatMap(({ path, at, verdict }) =>
        verdict === undefined || verdict.mayCome !== undefined ? [] : [{ path, at, text: verdict.text }],
      ),
      ...unservedTools(uses, merged),
    ],
    unchecked: wrong.flatMap(({ path, verdict: { mayCome: name } = {} }) =>
      name === undefined ? [] : [{ path, name }],
    ),
  };
}

function namesIn(
  { custom_tools: custom = [], functions = [], mcp_servers: servers = {} }: AgentPart,
  doubtful: ReadonlySet<string>,
): Names {
  const areDoubtful = (...fields: string[]): boolean => fields.some((field) => doubtful.has(field));
  const exported = functions.flatMap(({ exports = [] }) => exports);
  return {
    own: [...custom.map(({ name }) => name), ...exported.filter((name) => name !== "default")],
    hasFunctions: functions.some(({ exports }) => exports?.includes("default") ?? true),
    isDoubtful: areDoubtful("functions", "custom_tools", "extends"),
    servers: areDoubtful("mcp_servers", "extends") ? undefined : Object.keys(servers),
  };
}

interface ToolUse {
  readonly tool: string;
  readonly path: readonly PropertyKey[];
  readonly at: Problem["at"];
  /** The subagent that has it. */
  readonly subagent?: string;
}

function usesIn({ tools = [], subagents = {} }: AgentPart, written: AgentSource["written"]): readonly ToolUse[] {
  const own = Array.isArray(tools)
    ? tools.map((tool, index) => ({ tool, path: ["tools", index], at: "value" as const }))
    : Object.keys(tools).map((tool) => ({ tool, path: ["tools", tool], at: "key" as const }));
  const ofSubagents = Object.entries(subagents).flatMap(([name, subagent]) => {
    const isFile = typeof written.subagents?.[name] === "string";
    return (subagent.tools ?? []).map((tool, index) => {
      const path = ["subagents", name, ...(isFile ? [] : ["tools", index])];
      return { tool, path, at: "value" as const, subagent: name };
    });
  });
  return [...own, ...ofSubagents];
}

interface RuleUse {
  readonly rule: string;
  readonly path: readonly PropertyKey[];
}

function rulesIn({ permissions = {}, hooks = {} }: AgentPart): readonly RuleUse[] {
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
  return [...listed, ...matchers];
}

function problemWithTool(tool: string, names: Names): Verdict | undefined {
  const server = /^mcp__(.+?)__./.exec(tool)?.[1];
  if (server !== undefined) return problemWithServer(server, names);
  const known = [...AGENT_TOOLS, ...names.own];
  if (known.includes(tool)) return undefined;
  const meant = nearest(tool, known);
  const remedy = meant === undefined ? `Known tools: ${known.join(", ")}` : `Did you mean ${meant}?`;
  return verdictOn(
    tool,
    { text: `unknown tool ${JSON.stringify(tool)}. ${remedy}`, isNear: meant !== undefined },
    names,
  );
}

/** A rule for an unknown tool protects nothing; it is probably a typo. */
function problemWithRule(written: string, names: Names): Verdict | undefined {
  const rule = readRule(written);
  if (typeof rule === "string") return { text: rule };
  if (rule.kind === "mcp") return problemWithServer(serverIn(rule), names);
  const known = [...BUILT_IN_TOOLS, ...names.own];
  const text = unknownTool(rule, known);
  if (text === undefined || rule.kind !== "tool") return undefined;
  return verdictOn(rule.written, { text, isNear: nearest(rule.written, known) !== undefined }, names);
}

/**
 * A name similar to a known one counts as a typo, although a function might have it: list it under the module's
 * `exports` then.
 */
function verdictOn(
  name: string,
  { text, isNear }: { readonly text: string; readonly isNear: boolean },
  { hasFunctions, isDoubtful }: Names,
): Verdict {
  if (!isNear && (hasFunctions || isDoubtful)) return { text, mayCome: name };
  if (!hasFunctions) return { text };
  return { text: `${text} If it is a function, write { module: …, exports: [${name}] }` };
}

/** Undefined for a rule that covers several. */
function serverIn({ text }: Rule): string | undefined {
  const [server] = text.slice("mcp__".length).split("__");
  return server?.includes("*") === true ? undefined : server;
}

function problemWithServer(server: string | undefined, { servers }: Names): Verdict | undefined {
  if (server === undefined || servers === undefined || server === HOST_SERVER || servers.includes(server))
    return undefined;
  const meant = nearest(server, servers);
  return {
    text: `unknown server ${server}; it is not in mcp_servers${meant === undefined ? "" : `. Did you mean ${meant}?`}`,
  };
}

/** What the agent's provider does not support. */
function unservedTools(uses: readonly ToolUse[], { auth, tools, subagents = {} }: AgentPart): readonly Problem[] {
  if (auth === undefined) return [];
  const has = ({ tool, subagent }: ToolUse): boolean =>
    (subagent === undefined ? toolList(undefined, tools) : (subagents[subagent]?.tools ?? [])).includes(tool);
  return uses.flatMap((use) => {
    const text = has(use) ? providerLack(auth, use.tool) : undefined;
    return text === undefined ? [] : [{ path: use.path, at: use.at, text }];
  });
}
