import type { AgentDefinition } from "../core/agent-definition.ts";
import type { EnvironmentDefinition } from "../core/environment.ts";
import { hiddenValues, isRemote, type McpServer } from "../core/mcp-server-schema.ts";
import type { SessionState } from "../core/state.ts";

interface Archived {
  readonly agent: AgentDefinition;
  readonly environment: EnvironmentDefinition;
}

/**
 * What a session of somebody else's making would do on this machine without a question to anybody: commands and code
 * that the host runs for it, addresses it is sent to, and calls that need no approval. One line each; empty when it can
 * do nothing before a person agrees. Text of the archive is quoted, so that it cannot draw on a terminal.
 */
export function reachOf({ agent, environment }: Archived, { mode }: Pick<SessionState, "mode">): readonly string[] {
  const { permissions, hooks = {}, functions = [], mcp_servers: servers = {} } = agent;
  const inForce = mode ?? permissions.mode;
  const reach = [
    ...Object.entries(hooks).flatMap(([kind, all]) =>
      all.map(({ command }) => `hooks.${kind} runs ${quoted([command].flat().join(" "))}`),
    ),
    ...Object.entries(servers).flatMap(([name, server]) => reachOfServer(name, server)),
    ...functions.map(({ module }) => `functions loads ${quoted(module)}`),
    ...Object.entries(environment.variables).map(
      ([name, value]) => `environment.variables sets ${name} to ${quoted(value)} for its commands`,
    ),
    ...(inForce === "yolo" ? ["its mode is yolo: every call is allowed"] : []),
    ...(inForce === "accept-edits" ? ["its mode is accept-edits: files are changed without a question"] : []),
    ...permissions.allow.map((rule) => `permissions.allow has ${quoted(rule)}`),
    ...(environment.sandbox.auto_allow_sandboxed
      ? ["environment.sandbox.auto_allow_sandboxed: commands in the sandbox are allowed"]
      : []),
  ];
  return reach.length > 0 && environment.sandbox.mode !== "required"
    ? [...reach, "environment.sandbox does not require one: commands may reach all that you can"]
    : reach;
}

function reachOfServer(name: string, server: McpServer): readonly string[] {
  const what = isRemote(server)
    ? `talks to ${quoted(server.url)}`
    : `runs ${quoted([server.command, ...server.args].join(" "))}`;
  const asked = Object.values(hiddenValues(server)).filter((value) => value.includes("${"));
  const allowed = Object.entries(server.tools ?? {}).flatMap(([tool, policy]) => (policy === "allow" ? [tool] : []));
  return [
    `mcp_servers.${name} ${what}${asked.length === 0 ? "" : `, and is given ${asked.map(quoted).join(", ")}`}`,
    ...allowed.map((tool) => `mcp_servers.${name}.tools allows ${tool}`),
  ];
}

/** As JSON, with what JSON leaves of characters that steer a terminal or turn text around. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, "0")}`,
  );
}
