import { setTimeout as sleep } from "node:timers/promises";
import type Anthropic from "@anthropic-ai/sdk";
import { agent } from "../test/support/host.ts";
import { BareSession } from "./bare.ts";
import { inTurn, interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";
import { type Served, startServer } from "./serve-process.ts";
import { firstTexts, type TurnTime, TurnWatch } from "./turns.ts";

const name = "server-turns";
/** Identical processes differ for their whole life; several of each even that out. */
const PROCESSES = 4;

type Stream = Awaited<ReturnType<Anthropic["beta"]["sessions"]["events"]["stream"]>>;

/** The cost of running a session over HTTP with the official client. */
export const serverTurns: BenchCase = {
  name,
  async run() {
    await using server = await startServer();
    const bare = () => new BareSession({ agent: agent(), cwd: server.cwd, url: server.model.url, path: server.path });
    const opened = await interleave(
      { rounds: 25, warmUp: 2 },
      {
        async capstan() {
          const { id } = await server.client.beta.sessions.create(placeOf(server));
          await sleep(1_000);
          return await turn(server, id);
        },
        async cold() {
          await using session = bare();
          return await session.oneTurn("Hello", { resume: false });
        },
        async initial() {
          const watch = new TurnWatch();
          const { id } = await server.client.beta.sessions.create({
            ...placeOf(server),
            initial_events: [message("Hello")],
          });
          const stream = await server.client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
          return await read(stream, watch);
        },
      },
    );
    const later = await laterTurns(server, bare);
    return [
      ratioRow(
        {
          name,
          what: "first text after events.send, session created 1 s before : cold bare query()",
          measured: firstTexts(opened.capstan),
          against: firstTexts(opened.cold),
        },
        0.4,
      ),
      ratioRow(
        {
          name,
          what: "first text, create with initial_events : cold bare query()",
          measured: firstTexts(opened.initial),
          against: firstTexts(opened.cold),
        },
        1.15,
      ),
      ratioRow(
        {
          name,
          what: "first text of a later turn over HTTP and SSE : bare live query()",
          measured: firstTexts(later.capstan),
          against: firstTexts(later.bare),
        },
        1.3,
      ),
    ];
  },
};

async function laterTurns(server: Served, bare: () => BareSession) {
  await using stack = new AsyncDisposableStack();
  const pairs = await Promise.all(
    Array.from({ length: PROCESSES }, async () => {
      const { id } = await server.client.beta.sessions.create(placeOf(server));
      const stream = await server.client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
      stack.defer(() => stream.controller.abort());
      return { id, events: stream[Symbol.asyncIterator](), bare: stack.use(bare()) };
    }),
  );
  return await interleave(
    { rounds: 120, warmUp: 5 * PROCESSES },
    {
      async capstan(round) {
        const { id, events } = inTurn(pairs, round);
        const watch = new TurnWatch();
        await server.client.beta.sessions.events.send(id, { events: [message(`Message ${round}`)] });
        return await readOn(events, watch);
      },
      bare: (round) => inTurn(pairs, round).bare.liveTurn(`Message ${round}`),
    },
  );
}

async function turn({ client }: Served, id: string): Promise<TurnTime> {
  const stream = await client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
  const watch = new TurnWatch();
  await client.beta.sessions.events.send(id, { events: [message("Hello")] });
  return read(stream, watch);
}

async function read(stream: Stream, watch: TurnWatch): Promise<TurnTime> {
  try {
    return await readOn(stream[Symbol.asyncIterator](), watch);
  } finally {
    stream.controller.abort();
  }
}

/** Reads until the turn ends; the stream stays open. */
async function readOn(
  events: AsyncIterator<Awaited<Stream> extends AsyncIterable<infer E> ? E : never>,
  watch: TurnWatch,
) {
  for (let next = await events.next(); next.done !== true; next = await events.next()) {
    if (next.value.type === "event_delta") watch.text();
    if (next.value.type === "session.status_idle") return watch.end();
  }
  throw new Error("The stream ended before the turn did.");
}

function placeOf({ agent: id, environment }: Served) {
  return { agent: id, environment_id: environment };
}

function message(text: string) {
  return { type: "user.message" as const, content: [{ type: "text" as const, text }] };
}
