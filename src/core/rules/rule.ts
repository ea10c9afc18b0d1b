import { CapstanError } from "../errors.ts";
import { nearest } from "../text/nearest.ts";
import { type Glob, parseGlob } from "../paths/glob.ts";
import { type CommandPattern, parseCommandPattern } from "./match-command.ts";
import { parsePathPattern, type PathPattern } from "../paths/match-path.ts";
import { BUILT_IN_TOOLS, canonicalTool } from "./tool-names.ts";

/** A parsed permission rule: `Bash(npm run *)`. */
export type Rule = { readonly text: string } & (
  | { readonly kind: "any" }
  /** The whole tool, under the written name or the built-in tool's own. */
  | { readonly kind: "tool"; readonly tool: string; readonly written: string }
  | { readonly kind: "command"; readonly pattern: CommandPattern }
  | { readonly kind: "path"; readonly tool: PathTool; readonly pattern: PathPattern }
  | { readonly kind: "domain"; readonly domain: string; readonly subdomains: boolean }
  /**
   * `server` is undefined if the name continues after the server, or has a wildcard. Does not apply to the tools in
   * `except`.
   */
  | {
      readonly kind: "mcp";
      readonly name: Glob;
      readonly server: string | undefined;
      readonly except?: readonly string[];
    }
  | { readonly kind: "subagent"; readonly name: Glob }
  | { readonly kind: "skill"; readonly name: Glob }
);

export type PathTool = (typeof PATH_TOOLS)[number];

const PATH_TOOLS = ["Read", "Glob", "Grep", "Edit", "Write", "NotebookEdit"] as const;
const PATTERN_TOOLS = [...PATH_TOOLS, "Bash", "WebFetch", "Agent", "Skill"];
const EXAMPLES = "Bash, Bash(npm run *), Read(./secrets/**), WebFetch(domain:example.org) or mcp__server__tool";
export const ALLOWS_ALL =
  "expected a tool: * alone can only deny or ask. To allow everything that no rule covers, use the mode yolo";
/** Longer than any rule that a person writes. */
const MAX_LENGTH = 2_000;

/** Throws `invalid_agent` with the problem and what is expected. */
export function parseRule(text: string): Rule {
  const read = readRule(text);
  if (typeof read !== "string") return read;
  throw new CapstanError("invalid_agent", read, { data: { rule: text } });
}

/** The rule, or the problem with it as a sentence. */
export function readRule(text: string): Rule | string {
  if (text.length > MAX_LENGTH) return `expected a rule of at most ${MAX_LENGTH} characters (found ${text.length})`;
  const shown = JSON.stringify(text);
  if (text === "*") return { kind: "any", text };
  if (text.startsWith("mcp__")) return readMcp(text) ?? `expected mcp__server or mcp__server__tool (found ${shown})`;
  const open = text.indexOf("(");
  const written = open < 0 ? text : text.slice(0, open);
  if (!/^\w[\w-]*$/.test(written)) return `expected a rule such as ${EXAMPLES} (found ${shown})`;
  const tool = canonicalTool(written);
  if (open < 0) return { kind: "tool", tool, written, text };
  if (!text.endsWith(")")) return `expected a closing parenthesis at the end of the rule (found ${shown})`;
  const inner = text.slice(open + 1, -1);
  if (inner.trim() === "") return `expected a pattern in the parentheses, or ${written} alone (found ${shown})`;
  // As in Claude's settings: any use of the tool.
  if (inner.trim() === "*") return { kind: "tool", tool, written, text };
  // Taken literally it would match nothing, but removing it might change the meaning.
  if (/^\s|(?<!\\)\s$/.test(inner))
    return `expected a pattern without a space at its start or end; put \\ before the space to keep it (found ${shown})`;
  const pattern = readPattern(tool, inner);
  if (typeof pattern !== "string") return { ...pattern, text };
  return `expected another pattern in ${shown}: ${pattern}`;
}

type Pattern<Kind> = Kind extends Rule ? Omit<Kind, "text"> : never;

function readPattern(tool: string, inner: string): Pattern<Rule> | string {
  const pathTool = PATH_TOOLS.find((name) => name === tool);
  if (pathTool !== undefined) {
    const pattern = parsePathPattern(inner);
    return typeof pattern === "string" ? pattern : { kind: "path", tool: pathTool, pattern };
  }
  switch (tool) {
    case "Bash": {
      const pattern = parseCommandPattern(inner);
      return typeof pattern === "string" ? pattern : { kind: "command", pattern };
    }
    case "WebFetch":
      return readDomain(inner);
    case "Agent":
      return { kind: "subagent", name: parseGlob(inner) };
    case "Skill":
      return { kind: "skill", name: parseGlob(inner) };
    default: {
      const meant = BUILT_IN_TOOLS.includes(tool) ? undefined : nearest(tool, PATTERN_TOOLS);
      return `${tool} takes no pattern; ${meant === undefined ? `write ${tool} alone` : `did you mean ${meant}?`}`;
    }
  }
}

function readDomain(inner: string): Pattern<Rule> | string {
  const domain = /^domain:(.*)$/.exec(inner)?.[1]?.trim().toLowerCase().replace(/\.$/, "");
  if (domain === undefined) return "write WebFetch(domain:example.org)";
  const subdomains = domain.startsWith("*.");
  const name = subdomains ? domain.slice(2) : domain;
  if (!/^[^\s/:@*?#]+$|^\[[\da-f:.]+\]$/.test(name))
    return "a domain is a host name such as example.org or *.example.org, without a scheme, port or path";
  return { kind: "domain", domain: name, subdomains };
}

function readMcp(text: string): Rule | undefined {
  if (!/^mcp__[\w*-][\w.*-]*$/.test(text)) return undefined;
  const isServer = !text.slice("mcp__".length).includes("__") && !text.includes("*");
  return { kind: "mcp", text, name: parseGlob(text), server: isServer ? text : undefined };
}

/** The problem with a rule that names an unknown tool; undefined if there is none. */
export function unknownTool(rule: Rule, known: readonly string[]): string | undefined {
  if (rule.kind !== "tool" || known.includes(rule.tool) || known.includes(rule.written)) return undefined;
  const meant = nearest(rule.written, known);
  const remedy = meant === undefined ? `Known tools: ${known.join(", ")}` : `Did you mean ${meant}?`;
  return `unknown tool ${JSON.stringify(rule.written)} in the rule ${JSON.stringify(rule.text)}. ${remedy}`;
}
