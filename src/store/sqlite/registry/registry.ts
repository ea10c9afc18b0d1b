import type { Clock } from "../../../core/ports/clock.ts";
import type { Registry } from "../../../core/ports/registry.ts";
import type { Database } from "../file/database.ts";
import { agentTable } from "./registry-agents.ts";
import { deliveryTable } from "./registry-deliveries.ts";
import { environmentTable } from "./registry-environments.ts";
import { fileTable } from "./registry-files.ts";
import { keyTable } from "./registry-keys.ts";
import { webhookTable } from "./registry-webhooks.ts";

export function registryTables(database: Database, clock: Clock): Registry {
  return {
    agents: agentTable(database),
    environments: environmentTable(database, clock),
    files: fileTable(database, clock),
    keys: keyTable(database),
    webhooks: { ...webhookTable(database), ...deliveryTable(database) },
  };
}
