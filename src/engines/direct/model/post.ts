import { Agent, type IncomingMessage, request } from "node:http";
import { messageOf } from "../../../core/errors.ts";
import { broken } from "./failure.ts";

/** Connections to the gateway, which never closes an idle one by itself. Idle ones hold no process up. */
const connections = new Agent({ keepAlive: true, maxFreeSockets: 32 });

export interface Posted {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/**
 * Sends a request and resolves with the head of the answer. The built-in `fetch` would end a silent request after five
 * minutes; how long the model API may be silent is for the gateway to decide.
 */
export function post({ url, headers, body, signal }: Posted): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent: connections, headers, signal });
    sent.once("response", resolve);
    sent.on("error", (error) => reject(signal.aborted ? error : broken(`The request failed: ${messageOf(error)}.`)));
    sent.end(body);
  });
}

/** An error is short; what comes beyond that says nothing more. */
const MAX_ERROR_CHARS = 100_000;

export async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  for await (const chunk of response as AsyncIterable<string>) if (text.length < MAX_ERROR_CHARS) text += chunk;
  return text;
}
