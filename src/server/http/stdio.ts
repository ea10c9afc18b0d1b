import { z } from "zod";
import { messageOf } from "../../core/errors.ts";
import { framesOf } from "../../protocol/sse.ts";

/**
 * The same requests and events as over HTTP, as JSON-RPC 2.0 with one message per line, for a parent process that wants
 * no port. `request` sends a request; a stream arrives as `event` notifications until `end`; `cancel` ends one early.
 */

const rpcMessage = z.strictObject({
  jsonrpc: z.literal("2.0"),
  /** Required in practice: every method has an answer, so the parent sends no notifications. */
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.unknown().optional(),
});

const requestParams = z.strictObject({
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).default("GET"),
  /** With its query, such as `/v1/sessions?limit=5`. */
  path: z.string().regex(/^\/(?!\/)/, "it must begin with one slash"),
  headers: z.record(z.string(), z.string()).default({}),
  /** Sent as JSON. */
  body: z.unknown().optional(),
  /** Sent unchanged in base64, with the content type from the headers. */
  body_base64: z.base64().optional(),
});
const cancelParams = z.strictObject({ stream: z.number().int() });

/** The codes of JSON-RPC. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const UNKNOWN_METHOD = -32_601;
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

interface StdioOptions {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Headers of every request, such as a key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly input: AsyncIterable<string>;
  /** Writes a line. Awaited, so that a parent that does not read slows only its own streams. */
  readonly output: (line: string) => Promise<void>;
}

/** Ends when the input does, together with all open streams. */
export async function serveLines({ input, ...options }: StdioOptions): Promise<void> {
  const connection = new Connection(options);
  const open = new Set<Promise<void>>();
  for await (const line of input) {
    if (line.trim() === "") continue;
    // If writing to the parent fails, it is gone and closes the input next.
    const answering = connection
      .take(line)
      .catch(() => {})
      .finally(() => open.delete(answering));
    open.add(answering);
  }
  connection.close();
  await Promise.allSettled(open);
}

class RpcFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

class Connection {
  readonly #options: Omit<StdioOptions, "input">;
  readonly #requests = new Set<AbortController>();
  readonly #streams = new Map<number, AbortController>();
  #lastStream = 0;

  constructor(options: Omit<StdioOptions, "input">) {
    this.#options = options;
  }

  close(): void {
    for (const request of this.#requests) request.abort();
  }

  async take(line: string): Promise<void> {
    let id: string | number | null = null;
    try {
      const message = parseParams(rpcMessage, json(line), INVALID_REQUEST);
      id = message.id ?? null;
      if (message.id === undefined)
        throw new RpcFailure(INVALID_REQUEST, "The message has no id, so it cannot be answered. Add an id.");
      await this.#call(message.method, message.params, id);
    } catch (thrown) {
      const code = thrown instanceof RpcFailure ? thrown.code : INTERNAL_ERROR;
      await this.#write({ id, error: { code, message: messageOf(thrown) } });
    }
  }

  async #call(method: string, params: unknown, id: string | number | null): Promise<void> {
    switch (method) {
      case "request":
        return this.#request(parseParams(requestParams, params, INVALID_PARAMS), id);
      case "cancel": {
        const { stream } = parseParams(cancelParams, params, INVALID_PARAMS);
        this.#streams.get(stream)?.abort();
        return this.#write({ id, result: {} });
      }
      default:
        throw new RpcFailure(UNKNOWN_METHOD, `Unknown method ${method}. Use request or cancel.`);
    }
  }

  async #request(given: z.infer<typeof requestParams>, id: string | number | null): Promise<void> {
    const stopping = new AbortController();
    this.#requests.add(stopping);
    try {
      await this.#respond(given, id, stopping);
    } finally {
      this.#requests.delete(stopping);
    }
  }

  async #respond(
    given: z.infer<typeof requestParams>,
    id: string | number | null,
    stopping: AbortController,
  ): Promise<void> {
    const response = await this.#options.fetch(this.#httpRequest(given, stopping.signal));
    const { status } = response;
    const type = response.headers.get("content-type") ?? "";
    const head = { status, request_id: response.headers.get("request-id") };
    if (type.startsWith("text/event-stream") && response.body !== null) {
      this.#lastStream += 1;
      const stream = this.#lastStream;
      this.#streams.set(stream, stopping);
      await this.#write({ id, result: { ...head, stream } });
      return this.#forward(stream, response.body, stopping);
    }
    const body = type.startsWith("application/json")
      ? { body: await response.json() }
      : { content_type: type, body_base64: Buffer.from(await response.arrayBuffer()).toString("base64") };
    await this.#write({ id, result: { ...head, ...body } });
  }

  #httpRequest(
    { method, path, headers, body, body_base64: bytes }: z.infer<typeof requestParams>,
    signal: AbortSignal,
  ) {
    const content =
      bytes === undefined ? (body === undefined ? null : JSON.stringify(body)) : Buffer.from(bytes, "base64");
    if (method === "GET" && content !== null) throw new RpcFailure(INVALID_PARAMS, "A GET request cannot have a body.");
    const json = bytes === undefined && content !== null ? { "content-type": "application/json" } : {};
    return new Request(`http://localhost${path}`, {
      method,
      headers: { ...json, ...headers, ...this.#options.headers },
      body: content,
      signal,
    });
  }

  async #forward(stream: number, body: ReadableStream<Uint8Array>, stopping: AbortController): Promise<void> {
    try {
      for await (const { event, id, data } of framesOf(body, { signal: stopping.signal }))
        if (event !== "ping") await this.#notify("event", { stream, event, id, data: JSON.parse(data) });
    } catch {
      // The stream was cut because it was not read; the parent can resume with the id of the last event.
    } finally {
      this.#streams.delete(stream);
      await this.#notify("end", { stream });
    }
  }

  #notify(method: string, params: unknown): Promise<void> {
    return this.#options.output(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  #write(answer: Record<string, unknown>): Promise<void> {
    return this.#options.output(JSON.stringify({ jsonrpc: "2.0", ...answer }));
  }
}

function json(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (thrown) {
    throw new RpcFailure(PARSE_ERROR, `The line is not valid JSON: ${messageOf(thrown)}`);
  }
}

function parseParams<Schema extends z.ZodType>(schema: Schema, value: unknown, code: number): z.output<Schema> {
  const found = schema.safeParse(value);
  if (found.success) return found.data;
  const problems = found.error.issues.map(({ path, message }) => `${path.join(".") || "message"}: ${message}`);
  throw new RpcFailure(code, problems.join("; "));
}
