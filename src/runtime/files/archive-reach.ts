import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { EnvironmentDefinition } from "../../core/environment/environment.ts";
import { hiddenValues, isRemote, type McpServer } from "../../core/agent/mcp-server-schema.ts";
import type { SessionEvent } from "../../core/events/events.ts";

interface Archived {
  readonly agent: AgentDefinition;
  readonly environment: EnvironmentDefinition;
}

/**
 * Lists what an imported session could do on this machine without asking anyone: commands and code that the host runs
 * for it, addresses it connects to, and calls that need no approval. One line each; empty if it can do nothing without
 * approval. Text from the archive is quoted, so that it cannot inject terminal control sequences.
 */
export function reachOf({ agent, environment }: Archived, events: readonly SessionEvent[]): readonly string[] {
  const { permissions, hooks = {}, functions = [], mcp_servers: servers = {} } = agent;
  // Include earlier modes: a fork from an earlier position has the mode of that position.
  const modes = [
    permissions.mode,
    ...events.flatMap((event) => (event.type === "capstan.mode_changed" ? [event.mode] : [])),
  ];
  const reach = [
    ...Object.entries(hooks).flatMap(([kind, all]) =>
      all.map(({ command }) => `hooks.${kind} runs ${quoteText([command].flat().join(" "))}`),
    ),
    ...Object.entries(servers).flatMap(([name, server]) => reachOfServer(name, server)),
    ...functions.map(({ module }) => `functions loads ${quoteText(module)}`),
    ...Object.entries(environment.variables).map(
      ([name, value]) => `environment.variables sets ${name} to ${quoteText(value)} for its commands`,
    ),
    ...(modes.includes("yolo") ? ["its mode is or was yolo: every call is allowed"] : []),
    ...(modes.includes("accept-edits") ? ["its mode is or was accept-edits: it changes files without asking"] : []),
    ...permissions.allow.map((rule) => `permissions.allow has ${quoteText(rule)}`),
    ...(environment.sandbox.auto_allow_sandboxed
      ? ["environment.sandbox.auto_allow_sandboxed: commands in the sandbox are allowed"]
      : []),
  ];
  return reach.length > 0 && environment.sandbox.mode !== "required"
    ? [...reach, "environment.sandbox does not require a sandbox: commands can reach everything you can"]
    : reach;
}

function reachOfServer(name: string, server: McpServer): readonly string[] {
  const what = isRemote(server)
    ? `talks to ${quoteText(server.url)}`
    : `runs ${quoteText([server.command, ...server.args].join(" "))}`;
  const given = Object.entries(hiddenValues(server)).map(([key, value]) => `${key}=${quoteText(value)}`);
  const allowed = Object.entries(server.tools ?? {}).flatMap(([tool, policy]) => (policy === "allow" ? [tool] : []));
  return [
    `mcp_servers.${name} ${what}${given.length === 0 ? "" : `, and receives ${given.join(", ")}`}`,
    ...(!isRemote(server) && server.outside_sandbox === true ? [`mcp_servers.${name} runs outside the sandbox`] : []),
    ...allowed.map((tool) => `mcp_servers.${name}.tools allows ${tool}`),
  ];
}

/** Quotes the text as JSON and escapes control and bidirectional characters that JSON leaves unescaped. */
function quoteText(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, "0")}`,
  );
}
