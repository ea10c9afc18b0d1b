import { Agent, type IncomingMessage, request } from "node:http";
import { messageOf } from "../../../core/errors.ts";
import type { GatewayAccess, GatewayAnswer, GatewayRequest } from "../../../core/ports/gateway.ts";
import { unreadableAnswer } from "./failure.ts";

/** Connections to the gateway, which never closes an idle one. Idle connections keep no process alive. */
const connections = new Agent({ keepAlive: true, maxFreeSockets: 32 });

/** Sends a request to the gateway: directly if it is in the same process, otherwise over HTTP. */
export async function post(gateway: Pick<GatewayAccess, "url" | "ask">, asked: GatewayRequest): Promise<GatewayAnswer> {
  try {
    return await (gateway.ask?.(asked) ?? postTo(gateway.url, asked));
  } catch (thrown) {
    throw asked.signal.aborted ? thrown : unreadableAnswer(`The request failed: ${messageOf(thrown)}.`);
  }
}

/**
 * Sends a request and resolves with the head of the response. The built-in `fetch` would end a silent request after
 * five minutes; the gateway decides how long the model API may be silent.
 */
function postTo(url: string, { headers, body, signal, isBeta }: GatewayRequest): Promise<GatewayAnswer> {
  return new Promise((resolve, reject) => {
    const address = `${url}/v1/messages${isBeta ? "?beta=true" : ""}`;
    const length = { "content-length": String(Buffer.byteLength(body)) };
    const options = { method: "POST", agent: connections, headers: { ...headers, ...length }, signal };
    const sent = request(address, options);
    sent.once("response", (response: IncomingMessage) =>
      resolve({
        status: response.statusCode ?? 0,
        header: (name) => response.headers[name]?.toString(),
        body: response as AsyncIterable<Uint8Array>,
      }),
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Errors are short; the rest of a longer one is dropped. */
const MAX_ERROR_CHARS = 100_000;

export async function readAnswerText({ body }: GatewayAnswer): Promise<string> {
  let text = "";
  for await (const part of textsOf(body)) if (text.length < MAX_ERROR_CHARS) text += part;
  return text;
}

/** A chunk boundary may split a character. */
export async function* textsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const part of body) yield decoder.decode(part, { stream: true });
}
