import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { CapstanError } from "../../core/errors.ts";
import { unservedBy } from "../../core/agent/provider-limits.ts";
import { defaultProvider } from "../../gateway/upstreams/upstreams.ts";
import type { AgentFindings } from "../../server/api/deps.ts";
import { loadTools, missingFor, notHonoured, requireUsableSchema } from "./agent-problems.ts";
import { type CredentialOptions, credentialSettings } from "../credentials/credential-settings.ts";
import { checkServers, type ServerSurroundings } from "./mcp-check.ts";

type Surroundings = ServerSurroundings & { readonly credentials: CredentialOptions };

/** What `capstan validate` tells of an agent file, for an agent that is stored; and its MCP servers are tried. */
export async function checkAgent(agent: AgentDefinition, around: Surroundings): Promise<AgentFindings> {
  const { output_schema: schema, functions } = agent;
  const [unusable, unknown, notes, servers] = await Promise.all([
    schema === undefined ? [] : refusalOf(requireUsableSchema(schema)),
    // To load them runs their code.
    functions === undefined ? refusalOf(loadTools(agent)) : [],
    aboutProvider(agent, around.credentials),
    checkServers(agent, around),
  ]);
  return {
    problems: [...notHonoured(agent), ...unusable.map((text) => `output_schema: ${text}`), ...unknown],
    notes: [
      ...notes,
      ...(functions === undefined
        ? []
        : ["Its functions were not loaded, because that runs their code: a session tells whether they can be."]),
    ],
    mcp_servers: servers,
  };
}

async function refusalOf(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    if (error instanceof CapstanError) return [error.message];
    throw error;
  }
}

/** What the way to the model lacks, and cannot do for the agent. */
async function aboutProvider(agent: AgentDefinition, options: CredentialOptions): Promise<readonly string[]> {
  const chosen = defaultProvider(credentialSettings(options));
  const provider = agent.auth ?? chosen;
  if (provider === undefined)
    return [
      "There is no credential for a model: run capstan auth login on the server's machine, or set ANTHROPIC_API_KEY there.",
    ];
  const missing = await missingFor(provider, options);
  return [
    ...missing.map(({ what, how }) => `${provider} lacks ${what}: ${how}`),
    // One that the agent names itself was looked at with the definition.
    ...(agent.auth === undefined ? unservedBy(provider, agent) : []),
  ];
}
