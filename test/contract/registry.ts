import { describe } from "vitest";
import { agentTests } from "../store/contract/registry/agents.ts";
import { deliveryTests } from "../store/contract/registry/deliveries.ts";
import { environmentTests } from "../store/contract/registry/environments.ts";
import { fileTests } from "../store/contract/registry/files.ts";
import { keyTests } from "../store/contract/registry/keys.ts";
import { notificationTests } from "../store/contract/registry/notifications.ts";
import { pageTests } from "../store/contract/registry/pages.ts";
import { webhookTests } from "../store/contract/registry/webhooks.ts";
import type { StoreContract } from "./store.ts";

/** What core/registry.ts means. Every store passes this suite. */
export function registryContract({ name, create }: StoreContract): void {
  describe(`${name} keeps the registry contract`, () => {
    pageTests(create);
    agentTests(create);
    environmentTests(create);
    fileTests(create);
    keyTests(create);
    webhookTests(create);
    deliveryTests(create);
    notificationTests(create);
  });
}
