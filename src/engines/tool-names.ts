import { HOST_SERVER } from "../core/agent/mcp-server-schema.ts";

/** The prefix of the server that carries the host's tools into the CLI. Only this prefix is stripped. */
const HOST_PREFIX = `mcp__${HOST_SERVER}__`;

export function hostToolName(tool: string): string {
  return HOST_PREFIX + tool;
}

export type ToolName =
  | { readonly kind: "builtin"; readonly name: string }
  | { readonly kind: "host"; readonly name: string }
  | { readonly kind: "mcp"; readonly server: string; readonly tool: string; readonly name: string };

/** Parses a tool name of the CLI. `name` is what users write in rules. */
export function readToolName(engineName: string): ToolName {
  if (engineName.startsWith(HOST_PREFIX)) return { kind: "host", name: engineName.slice(HOST_PREFIX.length) };
  const parts = /^mcp__(.+?)__(.+)$/.exec(engineName);
  if (parts === null) return { kind: "builtin", name: engineName };
  const [, server = "", tool = ""] = parts;
  return { kind: "mcp", server, tool, name: engineName };
}
