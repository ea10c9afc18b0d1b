import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ModelUsage } from "../../src/core/events/events.ts";
import type {
  Gateway,
  GatewayAccess,
  GatewaySession,
  ModelRequestInfo,
  ModelRequestOutcome,
  RefusedCredential,
} from "../../src/core/ports/gateway.ts";
import { type GatewayOptions, openGateway } from "../../src/gateway/gateway.ts";
import { httpUpstream } from "../../src/gateway/upstreams/http-upstream.ts";

export const API_KEY = "sk-ant-real-key";

/** A session that grants everything and keeps what the gateway told it. */
export interface Ledger extends GatewaySession {
  readonly reserved: readonly ModelRequestInfo[];
  readonly settled: readonly { readonly token: string; readonly outcome: ModelRequestOutcome }[];
  readonly rejected: readonly RefusedCredential[];
  /** Credentials that requests waited for. */
  readonly expired: readonly RefusedCredential[];
  /** Those that they wait for no more. */
  readonly overs: readonly RefusedCredential[];
  /** Resolves at the first settlement. */
  readonly firstSettled: Promise<ModelRequestOutcome>;
}

export function ledger(overrides: Partial<GatewaySession> = {}): Ledger {
  const reserved: ModelRequestInfo[] = [];
  const settled: { token: string; outcome: ModelRequestOutcome }[] = [];
  const rejected: RefusedCredential[] = [];
  const expired: RefusedCredential[] = [];
  const overs: RefusedCredential[] = [];
  const first = Promise.withResolvers<ModelRequestOutcome>();
  return {
    sessionId: "sesn_test",
    reserved,
    settled,
    rejected,
    expired,
    overs,
    firstSettled: first.promise,
    async reserve(info) {
      reserved.push(info);
      return overrides.reserve?.(info) ?? { granted: true, token: `grant-${reserved.length}` };
    },
    async settle(token, outcome) {
      settled.push({ token, outcome });
      await overrides.settle?.(token, outcome);
      first.resolve(outcome);
    },
    credentialRejected(refused) {
      rejected.push(refused);
    },
    credentialExpired: async (refused) => {
      expired.push(refused);
      return async () => void overs.push(refused);
    },
  };
}

export interface Fixture extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly session: Ledger;
  readonly access: GatewayAccess;
}

/** A gateway in front of `url`, with one session admitted. */
export async function gatewayTo(
  url: string,
  { session = ledger(), ...options }: Partial<GatewayOptions> & { session?: Ledger } = {},
): Promise<Fixture> {
  const upstream = httpUpstream({ baseUrl: new URL(url), credential: { kind: "api_key", secret: API_KEY } });
  const gateway = await openGateway({ upstream, clock: { now: () => Date.now() }, ...options });
  const access = await gateway.admit(session);
  return { gateway, session, access, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

/** A server that does with its connections whatever the test says. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
}

export async function rawServer(
  handler: (req: IncomingMessage, res: ServerResponse) => void | Promise<void>,
): Promise<RawServer> {
  const server = createServer((req, res) => void handler(req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export interface Call {
  readonly token?: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Hangs up. */
  readonly signal?: AbortSignal;
}

export const MESSAGE = { model: "claude-opus-4-8", stream: true, messages: [{ role: "user", content: "hi" }] };

/** Begins a request as an agent would; resolves with the answer's headers and leaves its body to be read. */
export function open(
  url: string,
  {
    token = "",
    path = "/v1/messages",
    method = "POST",
    headers = {},
    body = JSON.stringify(MESSAGE),
    signal,
  }: Call = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url + path, {
      method,
      agent: false,
      signal,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "x-claude-code-session-id": "s1",
        ...headers,
      },
    });
    outgoing.on("error", reject).on("response", resolve);
    outgoing.end(method === "GET" ? undefined : body);
  });
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly error: { readonly type?: string; readonly message?: string };
}

/** A whole exchange. */
export async function ask(url: string, call: Call = {}): Promise<Answer> {
  const incoming = await open(url, call);
  const text = (await bytesOf(incoming)).toString("utf8");
  const parsed: unknown = incoming.headers["content-type"] === "application/json" ? JSON.parse(text || "{}") : {};
  const { error = {} } = parsed as { error?: Answer["error"] };
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text, error };
}

/** Server-sent events, framed as the API frames them. */
export function sse(...events: readonly { readonly type: string; readonly [key: string]: unknown }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

export const usage = (input: number, output: number): ModelUsage => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
});

export const textDelta = (text: string) => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "text_delta", text },
});
