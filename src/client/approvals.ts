import type { ApprovalStatus } from "../core/session/approval.ts";
import type { WireAnswer, WireApproval } from "../protocol/api/approvals.ts";
import type { List } from "../protocol/api/common.ts";
import type { WireGrant } from "../protocol/api/grants.ts";
import { type Http, path } from "./http.ts";

export interface ApprovalSearch {
  readonly status?: ApprovalStatus | undefined;
  readonly session_id?: string | undefined;
  /** Only approvals requested after the one with this id. */
  readonly after?: string | undefined;
  /** At most this many, the most recent ones. Default: 200, and all that are still open. */
  readonly limit?: number | undefined;
  /** In seconds: how long to wait if there is none. */
  readonly wait?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Approvals in the key's project. */
export class ApprovalsClient {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Oldest first. */
  async list({ signal, ...query }: ApprovalSearch = {}): Promise<WireApproval[]> {
    return (await this.#http.json<List<WireApproval>>("GET", "/api/approvals", { query, signal })).data;
  }

  /** `wait`: in seconds, how long to wait for an answer if there is none. */
  get(
    id: string,
    { signal, ...query }: { readonly wait?: number; readonly signal?: AbortSignal } = {},
  ): Promise<WireApproval> {
    return this.#http.json("GET", path`/api/approvals/${id}`, { query, signal });
  }

  /** The first answer wins. */
  answer(id: string, answer: WireAnswer): Promise<WireApproval> {
    return this.#http.json("POST", path`/api/approvals/${id}/answer`, { body: answer });
  }
}

/** Remembered answers. */
export class GrantsClient {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Oldest first. */
  async list(): Promise<WireGrant[]> {
    return (await this.#http.json<List<WireGrant>>("GET", "/api/grants")).data;
  }

  async revoke(id: string): Promise<void> {
    await this.#http.json("DELETE", path`/api/grants/${id}`);
  }
}
