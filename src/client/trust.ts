import type { List } from "../protocol/api/common.ts";
import type { TrustInput, WireTrust } from "../protocol/api/trust.ts";
import { type Http, path } from "./http.ts";

/** The project's files and whether a person has trusted them. */
export class TrustClient {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async list(): Promise<WireTrust[]> {
    return (await this.#http.json<List<WireTrust>>("GET", "/api/trust")).data;
  }

  /** Fails if no file has the content with that hash now. */
  add(input: TrustInput): Promise<WireTrust> {
    return this.#http.json("POST", "/api/trust", { body: input });
  }

  async revoke(hash: string): Promise<void> {
    await this.#http.json("DELETE", path`/api/trust/${hash}`);
  }
}
