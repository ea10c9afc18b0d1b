import { CapstanApiError, refusalOf } from "./error.ts";

export interface ClientOptions {
  /** Such as `http://127.0.0.1:4310`. */
  readonly baseUrl: string;
  /** Omit it if a login's cookie identifies the caller. */
  readonly apiKey?: string | undefined;
  /** Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

interface RequestOptions {
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends requests to one server. */
export class Http {
  readonly #base: string;
  readonly #key: string | undefined;
  readonly #fetch: typeof fetch;

  constructor({ baseUrl, apiKey, fetch: given = fetch }: ClientOptions) {
    this.#base = baseUrl.replace(/\/+$/, "");
    this.#key = apiKey;
    this.#fetch = given;
  }

  get hasKey(): boolean {
    return this.#key !== undefined;
  }

  async json<Answer>(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const response = await this.send(method, path, options);
    const body = await bodyOf(response);
    if (body === undefined) throw refusalOf(undefined, response);
    return body as Answer;
  }

  address(path: string, query: Query = {}): string {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
    );
    return `${this.#base}${path}${given.length === 0 ? "" : `?${given.join("&")}`}`;
  }

  /** Rejects with a `CapstanApiError` unless the request succeeded. */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { query, body, signal, headers } = options;
    const send = this.#fetch;
    const response = await send(this.address(path, query), {
      method,
      headers: {
        ...(this.#key !== undefined && { "x-api-key": this.#key }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    }).catch((thrown: unknown) => {
      // The caller aborted the request and knows why.
      if (signal?.aborted === true) throw thrown;
      throw unreachable(this.#base, thrown);
    });
    if (!response.ok) throw refusalOf(await bodyOf(response), response);
    return response;
  }
}

/** Undefined if it is not JSON. */
async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

function unreachable(base: string, thrown: unknown): CapstanApiError {
  const { message, cause } = thrown as Error;
  const reason = cause instanceof Error && cause.message !== "" ? cause.message : message;
  return new CapstanApiError(
    `No response from ${base}: ${reason}. Check the address, and that the server is running.`,
    {
      status: 0,
      type: "connection_error",
      cause: thrown,
    },
  );
}

/** Builds a path and encodes the inserted names. */
export function path(parts: TemplateStringsArray, ...names: readonly string[]): string {
  return parts.reduce((whole, part, index) => whole + encodeURIComponent(names[index - 1] ?? "") + part);
}
