import { agent } from "../../test/support/host.ts";
import { BareSession } from "../bare.ts";
import { inTurn, interleave } from "../interleave.ts";
import { type BenchCase, ratioRow, type Row } from "../row.ts";
import { startServer } from "../serve-process.ts";
import { capstanTurn, firstTexts, TurnWatch } from "../turns.ts";
import { BareChat, benchHost, startModel } from "./model.ts";

const name = "direct-turns";
const SESSIONS = 3;

/** Time to the in-process engine's first text, compared with a bare Messages API call. */
export const directTurns: BenchCase = {
  name,
  run: async () => [...(await laterTurns()), ...(await turnsOverHttp()), ...(await newSessions())],
};

async function laterTurns(): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const { host, url, cwd } = stack.use(await benchHost());
  const open = async () => stack.use(await host.startSession({ agent: agent({ engine: "direct" }), cwd }));
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, open));
  const chats = sessions.map(() => new BareChat(url));
  const { direct, bare } = await interleave(
    { rounds: 150, warmUp: 5 * SESSIONS },
    {
      direct: (round) => capstanTurn(inTurn(sessions, round), `Message ${round}`),
      bare: (round) => inTurn(chats, round).turn(`Message ${round}`),
    },
  );
  const what = "first text of a later turn : bare call with @anthropic-ai/sdk";
  return [ratioRow({ name, what, measured: firstTexts(direct), against: firstTexts(bare) }, 2)];
}

async function newSessions(): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const { host, url, cwd, path } = stack.use(await benchHost());
  const { direct, cold, bare } = await interleave(
    { rounds: 30, warmUp: 2 },
    {
      async direct() {
        const watch = new TurnWatch();
        await using session = await host.startSession({ agent: agent({ engine: "direct" }), cwd });
        return await capstanTurn(session, "Hello", watch);
      },
      async cold() {
        await using session = new BareSession({ agent: agent(), cwd, url, path });
        return await session.oneTurn("Hello", { resume: false });
      },
      bare: () => new BareChat(url).turn("Hello"),
    },
  );
  const measured = firstTexts(direct);
  const what = "first text of a new session";
  return [
    ratioRow({ name, what: `${what} : bare call with @anthropic-ai/sdk`, measured, against: firstTexts(bare) }, 2.5),
    ratioRow({ name, what: `${what} : cold query()`, measured, against: firstTexts(cold) }, 0.1),
  ];
}

async function turnsOverHttp(): Promise<readonly Row[]> {
  await using model = await startModel();
  await using server = await startServer({ settings: "engine: direct\n", modelUrl: model.url });
  const { client } = server;
  const { id } = await client.beta.sessions.create({ agent: server.agent, environment_id: server.environment });
  const stream = await client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
  const events = stream[Symbol.asyncIterator]();
  const chat = new BareChat(model.url);
  const { direct, bare } = await interleave(
    { rounds: 100, warmUp: 10 },
    {
      async direct(round) {
        const watch = new TurnWatch();
        const content = [{ type: "text" as const, text: `Message ${round}` }];
        await client.beta.sessions.events.send(id, { events: [{ type: "user.message", content }] });
        for (let next = await events.next(); next.done !== true; next = await events.next()) {
          if (next.value.type === "event_delta") watch.text();
          if (next.value.type === "session.status_idle") return watch.end();
        }
        throw new Error("The stream ended before the turn did.");
      },
      bare: (round) => chat.turn(`Message ${round}`),
    },
  );
  stream.controller.abort();
  const what = "first text of a later turn over HTTP and SSE : bare call with @anthropic-ai/sdk";
  return [ratioRow({ name, what, measured: firstTexts(direct), against: firstTexts(bare) }, 3)];
}
