import type { RecordedAnswer, RecordedMessage } from "../../core/suite/cassette.ts";
import type { HeaderList, UpstreamResponse } from "../upstreams/upstream.ts";
import { errorFrame, messageFrames, streamOf } from "./message.ts";

const STREAM: HeaderList = [["content-type", "text/event-stream; charset=utf-8"]];
const JSON_BODY: HeaderList = [["content-type", "application/json"]];
const encoder = new TextEncoder();

/** An answer of a cassette, in the form that the model would send. */
export function respond(
  answer: RecordedAnswer,
  { stream, signal }: { readonly stream: boolean; readonly signal: AbortSignal },
): UpstreamResponse {
  if (answer.kind === "error" && answer.status === 200)
    return { status: 200, headers: STREAM, body: once(errorFrame(answer.body)) };
  if (answer.kind === "error")
    return {
      status: answer.status,
      // There is no model to wait for.
      headers: [...JSON_BODY, ...Object.entries(answer.headers).map(([name]) => [name, soon(name, answer)] as const)],
      body: once(JSON.stringify(answer.body)),
    };
  const { message } = answer;
  if (!stream) return { status: 200, headers: JSON_BODY, body: once(JSON.stringify(message)) };
  const text = streamOf(message, { cut: answer.kind === "cut" });
  const headers: HeaderList = [...STREAM, ["request-id", "req_replayed"]];
  if (answer.kind === "message") return { status: 200, headers, body: once(text) };
  if (answer.error !== undefined) return { status: 200, headers, body: once(text + errorFrame(answer.error)) };
  return { status: 200, headers, body: answer.by === "agent" ? holdAfter(text, signal) : breakAfter(text) };
}

/** A message as a model streams it, `piece` characters at a time. */
export function streamMessage(message: RecordedMessage, piece: number): UpstreamResponse {
  return { status: 200, headers: STREAM, body: encodeTexts(messageFrames(message, { cut: false, piece })) };
}

export function refusal(message: string): UpstreamResponse {
  const body = { type: "error", error: { type: "invalid_request_error", message } };
  return {
    status: 400,
    headers: [...JSON_BODY, ["x-should-retry", "false"]],
    body: once(JSON.stringify(body)),
  };
}

export function plainAnswer(status: number, body: unknown, headers: HeaderList = []): UpstreamResponse {
  return { status, headers: [...JSON_BODY, ...headers], body: once(JSON.stringify(body)) };
}

/** No answer, for as long as the agent waits. */
export function silence({ signal }: { readonly signal: AbortSignal }): UpstreamResponse {
  return { status: 200, headers: STREAM, body: holdAfter("", signal) };
}

/** Sends a text, and then nothing, until the agent gives up. */
export async function* holdAfter(text: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield encoder.encode(text);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Sends a text, and then closes the connection. */
export async function* breakAfter(text: string): AsyncGenerator<Uint8Array> {
  yield encoder.encode(text);
  throw new Error("The connection was closed in the middle of the answer.");
}

export async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield encoder.encode(text);
}

async function* encodeTexts(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield encoder.encode(text);
}

function soon(name: string, answer: Extract<RecordedAnswer, { kind: "error" }>): string {
  return name === "retry-after" ? "0" : (answer.headers[name] ?? "");
}
