import { CapstanError } from "../core/errors.ts";
import { engineToolName, isRemote, type McpServer } from "../core/agent/mcp-server-schema.ts";
import { isDenied, type ListedTools, requirePolicyTools } from "../core/agent/mcp-tool-policy.ts";

/** What the model API takes at most. The CLI leaves a tool with a longer name out, and says nothing. */
const LONGEST_NAME = 128;

/** Throws when what a server offers is not what its agent was made for. Servers somewhere else were looked at before. */
export function requireTools(
  servers: Readonly<Record<string, McpServer>>,
  statuses: readonly { readonly name: string; readonly tools?: readonly { readonly name: string }[] }[],
): void {
  const listed = statuses.flatMap(({ name: server, tools = [] }): ListedTools[] => {
    const configured = servers[server];
    if (configured === undefined || isRemote(configured)) return [];
    return [{ server, policy: configured.tools, tools: tools.map(({ name }) => name) }];
  });
  for (const one of listed) requireOfferable(one);
  requirePolicyTools(listed);
}

function requireOfferable({ server, policy, tools }: ListedTools): void {
  const failed = (what: string, data: object): CapstanError =>
    new CapstanError("engine_failed", `The MCP server ${server} ${what}`, { data: { servers: [server], ...data } });
  // The CLI takes a list of which one entry is wrong for an empty one.
  if (tools.length === 0)
    throw failed(
      "offers no tool: its list is empty, or one of the tools in it is not described as the protocol wants it. Mend the server, or take it out of mcp_servers.",
      {},
    );
  const long = tools.filter((tool) => engineToolName(server, tool).length > LONGEST_NAME && !isDenied(tool, policy));
  if (long.length > 0)
    throw failed(
      `has tools whose names are too long for the model: ${long.join(", ")}. Here ${LONGEST_NAME - engineToolName(server, "").length} characters are the most. Give the server a shorter name, or leave them out: mcp_servers.${server}.tools.<name>: deny.`,
      { tools: long },
    );
  // Rules, the log and the model could not tell one from the other.
  const named = Map.groupBy(tools, (tool) => engineToolName(server, tool));
  const same = [...named].filter(([, those]) => those.length > 1 && !those.every((tool) => isDenied(tool, policy)));
  if (same.length > 0)
    throw failed(
      `has tools with the same name for the model: ${same.map(([name, those]) => `${those.join(", ")} (${name})`).join("; ")}. Rename them in the server, or leave all of them out: mcp_servers.${server}.tools.<name>: deny.`,
      { tools: same.flatMap(([, those]) => those) },
    );
}

/** For servers that are programs and did not come up, with why. */
export function notStarted(failed: readonly (readonly [name: string, why: string])[], confined: boolean): CapstanError {
  const which = failed.map(([name, why]) => `${name} (${why})`).join(", ");
  const inside = confined
    ? " It runs in the sandbox, without network; outside_sandbox: true lets it run outside, and the log says so."
    : "";
  const silent = failed.some(([, why]) => /timed out|no answer/.test(why))
    ? " A server that runs and does not answer may be one that is no MCP server, or that writes other things to its standard output."
    : "";
  return new CapstanError(
    "engine_failed",
    `The MCP server ${which} did not start. Run its command by hand to see why, and mend mcp_servers in the agent's definition.${silent}${inside}`,
    { data: { servers: failed.map(([name]) => name) } },
  );
}
