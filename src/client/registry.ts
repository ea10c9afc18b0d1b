import type { WireAgentCheck } from "../protocol/api/agent-check.ts";
import type { List } from "../protocol/api/common.ts";
import type {
  AgentRequest,
  AgentUpdate,
  EnvironmentRequest,
  KeyRequest,
  WireAgent,
  WireEnvironment,
  WireKey,
  WireNewKey,
} from "../protocol/api/registry.ts";
import { type Http, path } from "./http.ts";

export interface PageSearch {
  readonly limit?: number;
  /** Only records after the one with this id. */
  readonly after?: string;
  readonly include_archived?: boolean;
}

export class AgentsClient {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The newest version of each, newest agent first. */
  async list(query: PageSearch = {}): Promise<WireAgent[]> {
    return (await this.#http.json<List<WireAgent>>("GET", "/api/agents", { query: { ...query } })).data;
  }

  get(id: string, query: { readonly version?: number } = {}): Promise<WireAgent> {
    return this.#http.json("GET", path`/api/agents/${id}`, { query });
  }

  /** Newest first. */
  async versions(id: string, query: { readonly limit?: number; readonly before?: number } = {}): Promise<WireAgent[]> {
    return (await this.#http.json<List<WireAgent>>("GET", path`/api/agents/${id}/versions`, { query })).data;
  }

  /** Reports problems of the agent on that server and connects to its MCP servers, which may take a minute. */
  check(
    id: string,
    { signal, ...query }: { readonly version?: number; readonly signal?: AbortSignal } = {},
  ): Promise<WireAgentCheck> {
    return this.#http.json("POST", path`/api/agents/${id}/check`, { query, signal });
  }

  create(input: AgentRequest): Promise<WireAgent> {
    return this.#http.json("POST", "/api/agents", { body: input });
  }

  /** Saves a new version. */
  update(id: string, input: AgentUpdate): Promise<WireAgent> {
    return this.#http.json("PUT", path`/api/agents/${id}`, { body: input });
  }
}

export class EnvironmentsClient {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Newest first. */
  async list(query: PageSearch = {}): Promise<WireEnvironment[]> {
    return (await this.#http.json<List<WireEnvironment>>("GET", "/api/environments", { query: { ...query } })).data;
  }

  get(id: string): Promise<WireEnvironment> {
    return this.#http.json("GET", path`/api/environments/${id}`);
  }

  create(input: EnvironmentRequest): Promise<WireEnvironment> {
    return this.#http.json("POST", "/api/environments", { body: input });
  }

  replace(id: string, input: EnvironmentRequest): Promise<WireEnvironment> {
    return this.#http.json("PUT", path`/api/environments/${id}`, { body: input });
  }
}

/** The project's keys, for admins. */
export class KeysClient {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Oldest first. */
  async list(): Promise<WireKey[]> {
    return (await this.#http.json<List<WireKey>>("GET", "/api/keys")).data;
  }

  create(input: KeyRequest): Promise<WireNewKey> {
    return this.#http.json("POST", "/api/keys", { body: input });
  }

  revoke(id: string): Promise<WireKey> {
    return this.#http.json("DELETE", path`/api/keys/${id}`);
  }
}
