import { CapstanError } from "../core/errors.ts";
import { engineToolName, isRemote, type McpServer } from "../core/agent/mcp-server-schema.ts";
import { isToolDenied, type ListedTools, requirePolicyTools } from "../core/agent/mcp-tool-policy.ts";

/** The model API's limit. The CLI silently omits a tool with a longer name. */
const LONGEST_NAME = 128;

/** Throws if a server's tools do not match what its agent expects. Remote servers were checked before. */
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
  const failure = (what: string, data: object): CapstanError =>
    new CapstanError("engine_failed", `The MCP server ${server} ${what}`, { data: { servers: [server], ...data } });
  // The CLI treats a list with one invalid entry as empty.
  if (tools.length === 0)
    throw failure(
      "offers no tools: its list is empty, or a tool in it is not described as the protocol requires. Fix the server, or remove it from mcp_servers.",
      {},
    );
  const long = tools.filter(
    (tool) => engineToolName(server, tool).length > LONGEST_NAME && !isToolDenied(tool, policy),
  );
  if (long.length > 0)
    throw failure(
      `has tools with names that are too long for the model: ${long.join(", ")}. The limit is ${LONGEST_NAME - engineToolName(server, "").length} characters here. Give the server a shorter name, or exclude them: mcp_servers.${server}.tools.<name>: deny.`,
      { tools: long },
    );
  // Rules, the log and the model could not distinguish them.
  const named = Map.groupBy(tools, (tool) => engineToolName(server, tool));
  const same = [...named].filter(([, those]) => those.length > 1 && !those.every((tool) => isToolDenied(tool, policy)));
  if (same.length > 0)
    throw failure(
      `has tools with the same name for the model: ${same.map(([name, those]) => `${those.join(", ")} (${name})`).join("; ")}. Rename them in the server, or exclude all of them: mcp_servers.${server}.tools.<name>: deny.`,
      { tools: same.flatMap(([, those]) => those) },
    );
}

/** The error for programs that did not start, with the reasons. */
export function notStarted(failed: readonly (readonly [name: string, why: string])[], confined: boolean): CapstanError {
  const which = failed.map(([name, why]) => `${name} (${why})`).join(", ");
  const inside = confined
    ? " It runs in the sandbox, without network; set outside_sandbox: true to run it outside, which the log records."
    : "";
  const silent = failed.some(([, why]) => /timed out|no answer/.test(why))
    ? " A program that runs but does not answer may not be an MCP server, or may write other output to stdout."
    : "";
  return new CapstanError(
    "engine_failed",
    `The MCP server ${which} did not start. Run its command by hand to see why, and correct mcp_servers in the agent's definition.${silent}${inside}`,
    { data: { servers: failed.map(([name]) => name) } },
  );
}
