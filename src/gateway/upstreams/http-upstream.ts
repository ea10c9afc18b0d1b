import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import { urlToHttpOptions } from "node:url";
import { isRefusal } from "../answer.ts";
import { headerList, headerValue, withoutHeaders } from "../headers.ts";
import { type HeaderList, NotSent, type Upstream, type UpstreamRequest, type UpstreamResponse } from "./upstream.ts";

export type Credential =
  | { readonly kind: "api_key"; readonly secret: string }
  | { readonly kind: "auth_token"; readonly secret: string }
  /** A subscription's token, which the API accepts only with a beta header. */
  | { readonly kind: "oauth_token"; readonly secret: string };

const OAUTH_BETA = "oauth-2025-04-20";
/** Idle connections are closed well before a load balancer would close them during a request. */
const IDLE_CONNECTION_MS = 30_000;
const MAX_REJECTION = 64 << 10;

/**
 * A Messages API over HTTP. Nothing it returns or throws contains the secret: it exists only in this closure, and the
 * answer's body is not Node's own message object, which would lead back to the request headers. Idle connections do not
 * keep the process alive, so there is nothing to dispose of.
 */
export function httpUpstream({ baseUrl, credential }: { baseUrl: URL; credential: Credential }): Upstream {
  const transport = baseUrl.protocol === "https:" ? https : http;
  const agent = new transport.Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });
  const { protocol, hostname, port } = urlToHttpOptions(baseUrl);
  const prefix = baseUrl.pathname.replace(/\/+$/, "");

  function open({ method, path, headers, body, signal }: UpstreamRequest): ClientRequest {
    const sent: HeaderList = [
      ["host", baseUrl.host],
      ...withCredential(headers, credential),
      // Usage is read from the answer, which must therefore not be compressed.
      ["accept-encoding", "identity"],
      ...(body === undefined ? [] : [["content-length", String(body.byteLength)] as const]),
    ];
    const options: RequestOptions = { protocol, hostname, port, path: prefix + path, method, headers: sent.flat() };
    return transport.request({ ...options, agent, signal });
  }

  return {
    billing: credential.kind === "oauth_token" ? "included" : "paid",
    send(request) {
      return new Promise<UpstreamResponse>((resolve, reject) => {
        const outgoing = open(request);
        let isConnected = false;
        const noteConnected = (): void => void (isConnected = true);
        outgoing.on("socket", (socket) => {
          if (socket.connecting)
            socket.once(baseUrl.protocol === "https:" ? "secureConnect" : "connect", noteConnected);
          else noteConnected();
        });
        // Also called for failures after the answer has started: those reach the reader of the body.
        outgoing.on("error", (error) => reject(isConnected ? error : new NotSent(error)));
        outgoing.on("response", (incoming) => {
          const status = incoming.statusCode ?? 0;
          const headers = headerList(incoming.rawHeaders);
          if (isRefusal(status)) redactAnswer(incoming, credential.secret).then(resolve, reject);
          else resolve({ status, headers, body: bytesOf(incoming) });
        });
        outgoing.end(request.body);
      });
    },
  };
}

function withCredential(headers: HeaderList, { kind, secret }: Credential): HeaderList {
  if (kind === "api_key") return [...headers, ["x-api-key", secret]];
  const authorized: HeaderList = [...headers, ["authorization", `Bearer ${secret}`]];
  return kind === "oauth_token" ? withBeta(authorized, OAUTH_BETA) : authorized;
}

function withBeta(headers: HeaderList, beta: string): HeaderList {
  const betas = headerValue(headers, "anthropic-beta");
  if (betas === undefined) return [...headers, ["anthropic-beta", beta]];
  if (betas.split(",").some((name) => name.trim() === beta)) return headers;
  return headers.map(([name, value]) =>
    name.toLowerCase() === "anthropic-beta" ? [name, `${value},${beta}`] : [name, value],
  );
}

async function* bytesOf(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  yield* incoming as AsyncIterable<Uint8Array>;
}

/** Some proxies quote the key that they refuse; it must not reach a log or the agent. */
async function redactAnswer(incoming: IncomingMessage, secret: string): Promise<UpstreamResponse> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytesOf(incoming)) {
    length += chunk.byteLength;
    if (length <= MAX_REJECTION) chunks.push(chunk);
  }
  const body = Buffer.from(Buffer.concat(chunks).toString("utf8").replaceAll(secret, "[redacted]"));
  const headers: HeaderList = [
    ...withoutHeaders(headerList(incoming.rawHeaders), ["content-length", "transfer-encoding"]),
    ["content-length", String(body.byteLength)],
  ];
  return { status: incoming.statusCode ?? 0, headers, body: once(body) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
