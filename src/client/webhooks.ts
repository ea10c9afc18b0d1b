import type { List } from "../protocol/api/common.ts";
import type { WebhookRequest, WireDelivery, WireNewWebhook, WireWebhook } from "../protocol/api/webhooks.ts";
import { type Http, path } from "./http.ts";

/** Webhooks for events of the project's sessions, for admins. */
export class WebhooksClient {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async list(): Promise<WireWebhook[]> {
    return (await this.#http.json<List<WireWebhook>>("GET", "/api/webhooks")).data;
  }

  get(id: string): Promise<WireWebhook> {
    return this.#http.json("GET", path`/api/webhooks/${id}`);
  }

  /** Only this response contains the secret. */
  create(input: WebhookRequest): Promise<WireNewWebhook> {
    return this.#http.json("POST", "/api/webhooks", { body: input });
  }

  /** Pending deliveries are sent. */
  enable(id: string): Promise<WireWebhook> {
    return this.#http.json("POST", path`/api/webhooks/${id}/enable`);
  }

  /** Later events are not delivered. */
  disable(id: string): Promise<WireWebhook> {
    return this.#http.json("POST", path`/api/webhooks/${id}/disable`);
  }

  /** Also deletes its pending deliveries. */
  async delete(id: string): Promise<void> {
    await this.#http.json("DELETE", path`/api/webhooks/${id}`);
  }

  /** The last 100, newest first. */
  async deliveries(id: string): Promise<WireDelivery[]> {
    return (await this.#http.json<List<WireDelivery>>("GET", path`/api/webhooks/${id}/deliveries`)).data;
  }
}
