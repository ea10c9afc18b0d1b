import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { CapstanError } from "../../core/errors.ts";
import { unservedBy } from "../../core/agent/provider-limits.ts";
import { defaultProvider } from "../../gateway/upstreams/upstreams.ts";
import type { AgentFindings } from "../../server/api/deps.ts";
import { loadTools, missingFor, notHonoured, requireUsableSchema } from "./agent-problems.ts";
import { type CredentialOptions, credentialSettings } from "../credentials/credential-settings.ts";
import { checkServers, type ServerSurroundings } from "./mcp-check.ts";

type Surroundings = ServerSurroundings & { readonly credentials: CredentialOptions };

/** The checks of `capstan validate` for a saved agent; also connects to its MCP servers. */
export async function checkAgent(agent: AgentDefinition, around: Surroundings): Promise<AgentFindings> {
  const { output_schema: schema, functions } = agent;
  const [unusable, unknown, notes, servers] = await Promise.all([
    schema === undefined ? [] : refusalOf(requireUsableSchema(schema)),
    // Loading them would run their code.
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
        : [
            "Its functions were not loaded, because that would run their code. Start a session to find out whether they load.",
          ]),
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

/** What the provider lacks or cannot do for the agent. */
async function aboutProvider(agent: AgentDefinition, options: CredentialOptions): Promise<readonly string[]> {
  const chosen = defaultProvider(credentialSettings(options));
  const provider = agent.auth ?? chosen;
  if (provider === undefined)
    return [
      "No model credential found. Run capstan auth login on the server's machine, or set ANTHROPIC_API_KEY there.",
    ];
  const missing = await missingFor(provider, options);
  return [
    ...missing.map(({ what, how }) => `${provider} lacks ${what}: ${how}`),
    // A provider that the agent names was checked with the definition.
    ...(agent.auth === undefined ? unservedBy(provider, agent) : []),
  ];
}
