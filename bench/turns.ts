import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { Session } from "../src/index.ts";
import { say, type Script } from "../test/support/scripted-model.ts";

/** Milliseconds since the message was sent. */
export interface TurnTime {
  readonly firstText: number;
  readonly end: number;
}

/**
 * Short and almost without delay, because everything but the model is measured. It comes in several pieces, as every
 * model's answer does: its end has not arrived when its first text has.
 */
export const answer: Script = () => say("Done, just as you asked.", { pace: 1 });

export const firstTexts = (times: readonly TurnTime[]): number[] => times.map(({ firstText }) => firstText);
export const ends = (times: readonly TurnTime[]): number[] => times.map(({ end }) => end);

export async function capstanTurn(session: Session, message: string, watch = new TurnWatch()): Promise<TurnTime> {
  for await (const event of session.send(message)) {
    if (event.type === "event_delta") watch.text();
    if (event.type === "session.status_idle") return watch.end();
  }
  throw new Error("The turn did not end.");
}

/** Reads a bare query until its turn ends; the query itself stays open. */
export async function bareTurn(messages: AsyncIterator<SDKMessage>, watch = new TurnWatch()): Promise<TurnTime> {
  for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
    const message = next.value;
    if (message.type === "stream_event" && isText(message.event)) watch.text();
    if (message.type === "result") return watch.end();
  }
  throw new Error("The process ended before the turn did.");
}

function isText(event: Extract<SDKMessage, { type: "stream_event" }>["event"]): boolean {
  return event.type === "content_block_delta" && event.delta.type === "text_delta";
}

/** One streamed request to a Messages API, without any agent. */
export async function directTurn(request: ModelCall): Promise<TurnTime> {
  const watch = new TurnWatch();
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of await openStream(request)) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('"text_delta"')) watch.text();
  }
  return watch.end();
}

export interface ModelCall {
  readonly url: string;
  readonly token: string;
  /** JSON. */
  readonly body: string;
}

export async function openStream({ url, token, body }: ModelCall): Promise<AsyncIterable<Uint8Array>> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
  if (!response.ok || response.body === null) throw new Error(`The model API answered ${response.status}.`);
  return response.body;
}

/** Starts when it is created. */
export class TurnWatch {
  readonly #started = performance.now();
  #firstText: number | undefined;

  text(): void {
    this.#firstText ??= performance.now() - this.#started;
  }

  end(): TurnTime {
    if (this.#firstText === undefined) throw new Error("The turn ended without a text.");
    return { firstText: this.#firstText, end: performance.now() - this.#started };
  }
}
