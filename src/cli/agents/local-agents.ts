import { clock, ids } from "../../app/clock.ts";
import { requireKnownTools } from "../../app/check/tool-traits.ts";
import { CapstanError } from "../../core/errors.ts";
import type { AgentRecord } from "../../core/ports/registry.ts";
import { agentWithSecrets, withoutAgentSecrets } from "../../server/api/secrets.ts";
import { userStore } from "../target/home.ts";
import { allPages, type StoredAgent, type StoredAgents } from "./stored-agents.ts";

/** Agents in this user's store, which a server on this machine uses too. */
export async function localAgents(project: string): Promise<StoredAgents> {
  const store = await userStore();
  const { agents } = store.registry;
  return {
    list: async () => (await allPages((query) => agents.list(project, query))).map(toStoredAgent),
    async create(definition) {
      requireKnownTools({ agent: definition, tools: [] });
      const now = clock.now();
      const record: AgentRecord = {
        id: ids.next("agent"),
        version: 1,
        project,
        name: definition.name,
        description: definition.description ?? null,
        metadata: {},
        definition: agentWithSecrets(definition),
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
      };
      await agents.create(record);
      return toStoredAgent(record);
    },
    async update(id, definition) {
      requireKnownTools({ agent: definition, tools: [] });
      const newest = await agents.get(project, id);
      if (newest === undefined)
        throw new CapstanError("not_found", `No saved agent ${id} found. To list them: capstan agents list`);
      const record: AgentRecord = {
        ...newest,
        version: newest.version + 1,
        name: definition.name,
        description: definition.description ?? null,
        definition: agentWithSecrets(definition, newest.definition),
        updatedAt: clock.now(),
      };
      await agents.update(record);
      return toStoredAgent(record);
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

function toStoredAgent({ id, version, name, definition, createdAt, updatedAt }: AgentRecord): StoredAgent {
  return { id, version, name, definition: withoutAgentSecrets(definition), createdAt, updatedAt };
}
