import type { RecordedAnswer } from "../../core/suite/cassette.ts";
import { recordedMessage } from "../../core/suite/cassette.ts";
import type { HeaderList, UpstreamResponse } from "../upstreams/upstream.ts";
import { MessageReader } from "./message.ts";

interface Recording {
  /** Whether a stream was requested. */
  readonly stream: boolean;
  /** Aborts when the agent stops reading. */
  readonly signal: AbortSignal;
  readonly finish: (answer: RecordedAnswer) => void;
}

/** Those that say whether and when to retry. */
const KEPT_HEADERS = ["retry-after", "x-should-retry"];

/** The same answer, passed to the recording when it ends, however it ends. */
export function recordResponse(response: UpstreamResponse, recording: Recording): UpstreamResponse {
  return { ...response, body: watchBody(response, recording) };
}

async function* watchBody(
  { status, headers, body }: UpstreamResponse,
  { stream, signal, finish }: Recording,
): AsyncGenerator<Uint8Array> {
  const reader = new MessageReader();
  const isStream = status === 200 && stream;
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body) {
      if (isStream) reader.push(chunk);
      else chunks.push(chunk);
      yield chunk;
    }
  } finally {
    const answer = isStream
      ? streamedAnswer(reader, signal)
      : whole(Buffer.concat(chunks).toString("utf8"), { status, headers });
    if (answer !== undefined) finish(answer);
  }
}

function streamedAnswer(reader: MessageReader, signal: AbortSignal): RecordedAnswer | undefined {
  const { error } = reader;
  const read = reader.read();
  if (read === undefined)
    return error === undefined ? undefined : { kind: "error", status: 200, headers: {}, body: error };
  const { message, isWhole } = read;
  if (isWhole) return { kind: "message", message };
  const by = signal.aborted ? "agent" : "model";
  return { kind: "cut", by, message, ...(error !== undefined && { error }) };
}

function whole(
  text: string,
  { status, headers }: Pick<UpstreamResponse, "status" | "headers">,
): RecordedAnswer | undefined {
  const body = parseJson(text);
  if (status !== 200) return { kind: "error", status, headers: keptOf(headers), body };
  const message = recordedMessage.safeParse(body);
  return message.success ? { kind: "message", message: message.data } : undefined;
}

function keptOf(headers: HeaderList): Record<string, string> {
  return Object.fromEntries(
    headers.map(([name, value]) => [name.toLowerCase(), value]).filter(([name]) => KEPT_HEADERS.includes(name ?? "")),
  ) as Record<string, string>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
