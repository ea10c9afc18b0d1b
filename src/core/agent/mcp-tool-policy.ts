import { CapstanError } from "../errors.ts";
import type { McpServer } from "./mcp-server-schema.ts";
import { nearest } from "../text/nearest.ts";

type Policy = NonNullable<McpServer["tools"]>;

/** Every tool of the server without its own entry. */
export const OTHER_TOOLS = "*";

/** The tools of a running server, with the agent's policy for it. */
export interface ListedTools {
  readonly server: string;
  readonly policy: Policy | undefined;
  /** The names of its tools. */
  readonly tools: readonly string[];
}

/** Throws if a policy names a tool that its server does not have: it is probably a typo, and protects nothing. */
export function requirePolicyTools(listed: readonly ListedTools[]): void {
  const problems = listed.flatMap(({ server, policy = {}, tools }) =>
    Object.keys(policy)
      .filter((tool) => tool !== OTHER_TOOLS && !tools.includes(tool))
      .map((tool) => `mcp_servers.${server}.tools.${tool}: the server has no such tool${instead(tool, tools)}`),
  );
  if (problems.length > 0) throw new CapstanError("invalid_agent", problems.join("\n"), { data: { problems } });
}

/** Whether every call of a tool is denied. */
export function isToolDenied(tool: string, policy: Policy = {}): boolean {
  return (policy[tool] ?? policy[OTHER_TOOLS]) === "deny";
}

const SHOWN = 20;

function instead(tool: string, known: readonly string[]): string {
  const meant = nearest(tool, known);
  if (meant !== undefined) return `; did you mean ${meant}?`;
  const more = known.length > SHOWN ? ` and ${known.length - SHOWN} more` : "";
  return `. It has ${known.slice(0, SHOWN).join(", ")}${more}`;
}
