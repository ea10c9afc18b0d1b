import type { WireAgent } from "../../client/index.ts";
import { msOf } from "../../protocol/api/common.ts";
import { awaitServer } from "../target/remote-failure.ts";
import type { ChosenServer } from "../target/server.ts";
import { allPages, type StoredAgent, type StoredAgents } from "./stored-agents.ts";

/** Agents of the key's project on a server. */
export function remoteAgents({ client: { agents } }: ChosenServer): StoredAgents {
  return {
    list: async () => (await allPages((query) => awaitServer(agents.list(query)))).map(fromWire),
    create: async (definition) => fromWire(await awaitServer(agents.create({ definition }))),
    update: async (id, definition) => {
      const { name, description = null } = definition;
      return fromWire(await awaitServer(agents.update(id, { definition, name, description })));
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

function fromWire({ id, version, name, definition, created_at, updated_at }: WireAgent): StoredAgent {
  return { id, version, name, definition, createdAt: msOf(created_at), updatedAt: msOf(updated_at) };
}
