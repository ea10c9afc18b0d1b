import { z } from "zod";
import type { WebhookRecord } from "../../core/ports/registry.ts";
import { dataList } from "../../protocol/api/common.ts";
import { deliveryToWire, newWebhook, webhookInput, webhookToWire } from "../../protocol/api/webhooks.ts";
import { checkedAddress } from "../http/address.ts";
import { newSigningSecret } from "../webhooks/signature.ts";
import { notFound } from "../http/lookup.ts";
import { deliveryComponent, webhookComponent } from "./document/components.ts";
import type { ApiDeps } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";

const common = { role: "admin", tag: "Webhooks" } as const;
/** As many as a person can review. */
const SHOWN = 100;

/** Webhooks for events of the project's sessions. */
export function addWebhooks(api: Api, { registry: { webhooks }, settings, ids, clock }: ApiDeps): void {
  const find = async (project: string, id: string): Promise<WebhookRecord> => {
    const found = await webhooks.get(project, id);
    if (found === undefined) throw notFound("webhook", id);
    return found;
  };

  endpoint(
    api,
    { ...common, method: "get", path: "/api/webhooks", summary: "List webhooks", answer: dataList(webhookComponent) },
    async ({ caller }) => ({ data: (await webhooks.list(caller.project)).map(webhookToWire) }),
  );

  endpoint(
    api,
    {
      ...common,
      method: "post",
      path: "/api/webhooks",
      summary: "Create a webhook",
      description: "Only this response contains the signing secret.",
      body: webhookInput,
      answer: newWebhook,
      status: 201,
    },
    async ({ caller, body }) => {
      const { href: url } = checkedAddress(body.url, settings.allowPrivateAddresses);
      const secret = newSigningSecret();
      const given = { project: caller.project, url, secret, events: body.events };
      const record = { ...given, id: ids.next("whk"), createdAt: clock.now(), disabledAt: null };
      await webhooks.create(record);
      return { ...webhookToWire(record), secret };
    },
  );

  endpoint(
    api,
    { ...common, method: "get", path: "/api/webhooks/{id}", summary: "Get a webhook", answer: webhookComponent },
    async ({ caller, params: { id } }) => webhookToWire(await find(caller.project, id)),
  );

  endpoint(
    api,
    {
      ...common,
      method: "delete",
      path: "/api/webhooks/{id}",
      summary: "Delete a webhook",
      description: "Pending deliveries are deleted too.",
      answer: z.object({ id: z.string(), deleted: z.literal(true) }),
    },
    async ({ caller, params: { id } }) => {
      if (!(await webhooks.delete(caller.project, id))) throw notFound("webhook", id);
      return { id, deleted: true as const };
    },
  );

  for (const action of ["enable", "disable"] as const)
    endpoint(
      api,
      {
        ...common,
        method: "post",
        path: `/api/webhooks/{id}/${action}`,
        summary: action === "enable" ? "Enable a webhook" : "Disable a webhook",
        description: action === "enable" ? "Pending deliveries are sent." : "Later events are not delivered.",
        answer: webhookComponent,
      },
      async ({ caller, params: { id } }) => {
        await find(caller.project, id);
        await webhooks.disable(caller.project, id, action === "enable" ? null : clock.now());
        return webhookToWire(await find(caller.project, id));
      },
    );

  endpoint(
    api,
    {
      ...common,
      method: "get",
      path: "/api/webhooks/{id}/deliveries",
      summary: "List a webhook's deliveries",
      description: "The last 100, newest first, with their results.",
      answer: dataList(deliveryComponent),
    },
    async ({ caller, params: { id } }) => {
      await find(caller.project, id);
      return { data: (await webhooks.deliveries(caller.project, id, SHOWN)).map(deliveryToWire) };
    },
  );
}
