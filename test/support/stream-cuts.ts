import { get, type IncomingMessage } from "node:http";
import type Anthropic from "@anthropic-ai/sdk";
import { random } from "./crash/random.ts";
import type { Script } from "./scripted-model.ts";
import { listEvents, message, type WireEvent } from "./v1-session.ts";

/** Thinks, says a few words one after another, calls a tool, and says more: many events and previews in a turn. */
export const talkative: Script = (request) => {
  const words = Array.from({ length: 12 }, (_, index) => `word${index}`).join(" ");
  if (request.toolResults.length > 0) return { blocks: [{ type: "text", text: words }], pace: 3 };
  return {
    blocks: [
      { type: "thinking", thinking: words, signature: "c2ln" },
      { type: "text", text: words },
      { type: "tool_use", id: `toolu_${request.index}`, name: "Read", input: { file_path: "nothing.txt" } },
    ],
    pace: 3,
  };
};

interface Talk {
  readonly client: Anthropic;
  readonly url: string;
  readonly key: string;
  readonly session: string;
  /** How often the stream is cut, and by which chance. */
  readonly cuts: number;
  readonly seed: number;
}

export interface Joined {
  /** What all pieces of the stream told together. */
  readonly events: readonly Record<string, unknown>[];
  /** Frames that came twice. */
  readonly repeats: number;
  readonly previews: number;
}

/** Turn after turn, until somebody has seen enough. The last one is over when it returns. */
async function talk({ client, session }: Talk, isEnough: () => boolean): Promise<void> {
  do {
    await client.beta.sessions.events.send(session, { events: [message("Talk.")] });
    for (;;) {
      const { status } = await client.beta.sessions.retrieve(session);
      if (status === "idle") break;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  } while (!isEnough());
}

/** Reads the raw stream, cut anywhere, even within a character, and resumed by `Last-Event-ID`. */
export async function joinedByLastEventId(given: Talk): Promise<Joined> {
  const chance = random(given.seed);
  const events: Record<string, unknown>[] = [];
  let [cuts, last, repeats, previews, isOver] = [0, 0, 0, 0, false];
  const talking = talk(given, () => cuts >= given.cuts).then(() => (isOver = true));
  const isWhole = async (): Promise<boolean> =>
    isOver && (await listEvents(given.client, given.session)).at(-1)?.id === events.at(-1)?.["id"];
  while (!(await isWhole())) {
    const isLast = cuts >= given.cuts;
    const piece = await connect(given, last);
    const limit = isLast ? Infinity : Math.floor(chance() ** 2 * 12_000);
    await readBytes(piece, limit, isLast ? 500 : 5_000, (frame) => {
      if (frame.id === undefined) {
        if (frame.event.startsWith("event_")) previews += 1;
        return;
      }
      if (frame.id <= last) repeats += 1;
      last = frame.id;
      events.push(frame.data);
    });
    cuts += 1;
  }
  await talking;
  return { events, repeats, previews };
}

/** The official way: open the stream, list what there is, and drop what comes twice by its id. */
export async function joinedByListing(given: Talk): Promise<Joined> {
  const { client, session } = given;
  const chance = random(given.seed);
  const events = new Map<string, Record<string, unknown>>();
  let [cuts, repeats, previews] = [0, 0, 0];
  const over = new AbortController();
  const talking = talk(given, () => cuts >= given.cuts).then(() => over.abort());
  const take = (event: object): void => {
    const { id } = event as { readonly id?: string };
    if (id === undefined) return void (previews += 1);
    if (events.has(id)) repeats += 1;
    else events.set(id, event as Record<string, unknown>);
  };
  while (!over.signal.aborted || cuts < given.cuts) {
    const stream = await client.beta.sessions.events.stream(session, { event_deltas: ["agent.message"] });
    for (const event of await listEvents(client, session)) take(event);
    await takeSome(stream, Math.floor(chance() * 30), take);
    cuts += 1;
  }
  await talking;
  for (const event of await listEvents(client, session)) take(event);
  return { events: [...events.values()], repeats, previews };
}

/** So many events, or what comes while nothing else does for a while. */
async function takeSome(
  stream: AsyncIterable<WireEvent> & { readonly controller: AbortController },
  count: number,
  take: (event: object) => void,
): Promise<void> {
  let left = count;
  const quiet = setTimeout(() => stream.controller.abort(), 400);
  try {
    if (left > 0)
      for await (const event of stream) {
        quiet.refresh();
        take(event);
        left -= 1;
        if (left <= 0) break;
      }
  } catch {
    // Cut.
  } finally {
    clearTimeout(quiet);
    stream.controller.abort();
  }
}

function connect({ url, key, session }: Talk, last: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const query = "event_deltas=agent.message&event_deltas=agent.thinking";
    const headers = { "x-api-key": key, "last-event-id": String(last) };
    get(`${url}/v1/sessions/${session}/events/stream?${query}`, { headers }, resolve).on("error", reject);
  });
}

interface Frame {
  readonly event: string;
  readonly id: number | undefined;
  readonly data: Record<string, unknown>;
}

/** Up to a number of bytes; only what is whole by then counts. */
async function readBytes(
  response: IncomingMessage,
  limit: number,
  quietMs: number,
  take: (frame: Frame) => void,
): Promise<void> {
  let bytes = Buffer.alloc(0);
  const quiet = setTimeout(() => response.destroy(), quietMs);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      quiet.refresh();
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length >= limit) break;
    }
  } catch {
    // Cut.
  } finally {
    clearTimeout(quiet);
    response.destroy();
  }
  const text = bytes.subarray(0, Math.min(limit, bytes.length)).toString();
  for (const block of text.split("\n\n").slice(0, -1)) {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
    const [event, id, data] = [field("event"), field("id"), field("data")];
    if (event === undefined || data === undefined) continue;
    take({ event, id: id === undefined ? undefined : Number(id), data: JSON.parse(data) as Record<string, unknown> });
  }
}
