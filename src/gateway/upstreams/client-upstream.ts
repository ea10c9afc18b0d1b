import { onAbort } from "../../core/text/on-abort.ts";
import { errorResponse } from "../answer.ts";
import { clientFailure } from "./client-failure.ts";
import { headerValue, responseHeaders } from "../headers.ts";
import type { HeaderList, Upstream, UpstreamRequest } from "./upstream.ts";

/** The common interface of the clouds' official clients. */
interface MessagesClient {
  post(path: string, options: PostOptions): { asResponse(): Promise<Response> };
}

interface PostOptions {
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  readonly stream: boolean;
  readonly maxRetries: number;
  readonly timeout: number;
}

interface ClientUpstreamOptions {
  readonly client: MessagesClient;
  /** The cloud's name, for its errors. */
  readonly title: string;
  readonly canCountTokens: boolean;
  /** The cloud's name for a model. */
  readonly model: (name: string) => string;
  /** Removed from errors: some services quote what they refuse. */
  readonly secrets: readonly string[];
  readonly remedy: string;
  readonly renewed?: Upstream["waitForRenewal"];
}

const MESSAGES = "/v1/messages";
const COUNT_TOKENS = "/v1/messages/count_tokens";
/** The client puts these where its cloud expects them. */
const FORWARDED = ["anthropic-beta", "anthropic-version"];
/** The gateway has its own timer, for silence; the client's would end a long answer. */
const NO_TIMEOUT_MS = 2_147_483_647;

/**
 * A cloud behind one of Anthropic's official clients, which signs the request, finds its address and converts the
 * cloud's stream to server-sent events. The agent retries, because each retry needs a reservation.
 */
export function clientUpstream(options: ClientUpstreamOptions): Upstream {
  const { client, title, canCountTokens, model, remedy, renewed } = options;
  return {
    billing: "paid",
    isPlain: true,
    remedy,
    ...(renewed !== undefined && { waitForRenewal: renewed }),
    async send(request) {
      const [path = "", query = ""] = request.path.split("?");
      const isServed = request.method === "POST" && (path === MESSAGES || (path === COUNT_TOKENS && canCountTokens));
      if (!isServed) {
        const message = `${title} does not support ${request.method} ${path}.`;
        return errorResponse({ status: 404, type: "not_found_error", message });
      }
      const body = JSON.parse(Buffer.from(request.body ?? []).toString("utf8")) as Record<string, unknown>;
      const named = model(String(body["model"]));
      try {
        const response = await client
          .post(new URLSearchParams(query).get("beta") === "true" ? `${path}?beta=true` : path, {
            body: { ...body, model: named },
            headers: forwardedHeaders(request.headers),
            signal: request.signal,
            stream: body["stream"] === true,
            maxRetries: 0,
            timeout: NO_TIMEOUT_MS,
          })
          .asResponse();
        return {
          status: response.status,
          headers: responseHeaders(response.headers),
          body: bytesOf(response, request),
        };
      } catch (thrown) {
        return clientFailure(thrown, { ...options, named });
      }
    },
  };
}

function forwardedHeaders(headers: HeaderList): Record<string, string> {
  return Object.fromEntries(
    FORWARDED.flatMap((name) => {
      const value = headerValue(headers, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The client releases the signal when the headers have arrived. */
async function* bytesOf({ body }: Response, { signal }: UpstreamRequest): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  const takeBack = onAbort(signal, cancel);
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value as Uint8Array;
    signal.throwIfAborted();
  } finally {
    takeBack();
    // A reader that stops needs no more.
    cancel();
  }
}
