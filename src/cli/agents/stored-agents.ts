import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { ChosenServer } from "../target/server.ts";

/** The newest version of an agent, without the secrets in its definition. */
export interface StoredAgent {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly definition: AgentDefinition;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The saved agents of one project, here or on a server. */
export interface StoredAgents extends AsyncDisposable {
  /** Newest first. */
  list(): Promise<readonly StoredAgent[]>;
  create(definition: AgentDefinition): Promise<StoredAgent>;
  /** Saves a new version of an existing agent. */
  update(id: string, definition: AgentDefinition): Promise<StoredAgent>;
}

/** On a server, the key determines the project. */
export async function openStoredAgents(server: ChosenServer | undefined, project: string): Promise<StoredAgents> {
  if (server !== undefined) return (await import("./remote-agents.ts")).remoteAgents(server);
  return (await import("./local-agents.ts")).localAgents(project);
}

/** The most agents that a server returns at once. */
const PAGE = 100;

/** Reads all pages. */
export async function allPages<Item extends { readonly id: string }>(
  page: (query: { readonly limit: number; readonly after?: string }) => Promise<readonly Item[]>,
): Promise<readonly Item[]> {
  const all: Item[] = [];
  for (;;) {
    const after = all.at(-1)?.id;
    const found = await page({ limit: PAGE, ...(after !== undefined && { after }) });
    all.push(...found);
    if (found.length < PAGE) return all;
  }
}
