import type { List } from "../protocol/api/common.ts";
import type { WebhookRequest, WireDelivery, WireNewWebhook, WireWebhook } from "../protocol/api/webhooks.ts";
import { type Http, path } from "./http.ts";

/** Addresses that are told what happens to the project's sessions, for its admins. */
export class Webhooks {
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

  /** The secret is in this answer and nowhere else. */
  create(input: WebhookRequest): Promise<WireNewWebhook> {
    return this.#http.json("POST", "/api/webhooks", { body: input });
  }

  /** What waited is sent. */
  enable(id: string): Promise<WireWebhook> {
    return this.#http.json("POST", path`/api/webhooks/${id}/enable`);
  }

  /** What happens from now on is not told. */
  disable(id: string): Promise<WireWebhook> {
    return this.#http.json("POST", path`/api/webhooks/${id}/disable`);
  }

  /** With what it was to be told. */
  async delete(id: string): Promise<void> {
    await this.#http.json("DELETE", path`/api/webhooks/${id}`);
  }

  /** The last hundred, newest first. */
  async deliveries(id: string): Promise<WireDelivery[]> {
    return (await this.#http.json<List<WireDelivery>>("GET", path`/api/webhooks/${id}/deliveries`)).data;
  }
}
