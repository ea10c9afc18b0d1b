import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { ChosenServer } from "../target/server.ts";

/** The newest version of an agent, without the secrets that its definition may hold. */
export interface StoredAgent {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly definition: AgentDefinition;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The stored agents of one project: here, or on a server. */
export interface StoredAgents extends AsyncDisposable {
  /** Newest first. */
  list(): Promise<readonly StoredAgent[]>;
  create(definition: AgentDefinition): Promise<StoredAgent>;
  /** Stores a new version of one that is there. */
  update(id: string, definition: AgentDefinition): Promise<StoredAgent>;
}

/** On a server the key says which project. */
export async function openStoredAgents(server: ChosenServer | undefined, project: string): Promise<StoredAgents> {
  if (server !== undefined) return (await import("./remote-agents.ts")).remoteAgents(server);
  return (await import("./local-agents.ts")).localAgents(project);
}

/** As many as one answer of a server holds. */
const PAGE = 100;

/** Everything that comes page by page. */
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
