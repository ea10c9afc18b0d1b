import Anthropic from "@anthropic-ai/sdk";
import { agent, testHost } from "../../test/support/host.ts";
import type { ScriptedModel } from "../../test/support/scripted-model.ts";
import { BareSession } from "../bare.ts";
import { inTurn, interleave } from "../interleave.ts";
import { type BenchCase, ratioRow, type Row } from "../row.ts";
import { served } from "../served.ts";
import { answer, capstanTurn, firstTexts, type TurnTime, TurnWatch } from "../turns.ts";

const name = "direct-turns";
const SESSIONS = 3;

/** Time to the in-process engine's first text, compared with a bare Messages API call. */
export const directTurns: BenchCase = {
  name,
  run: async () => [...(await laterTurns()), ...(await newSessions()), ...(await turnsOverHttp())],
};

async function laterTurns(): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const { host, model, cwd } = stack.use(await testHost(answer));
  const open = async () => stack.use(await host.startSession({ agent: agent({ engine: "direct" }), cwd }));
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, open));
  const bareCall = bareCallOf(model);
  const { direct, bare } = await interleave(
    { rounds: 150, warmUp: 5 * SESSIONS },
    { direct: (round) => capstanTurn(inTurn(sessions, round), `Message ${round}`), bare: bareCall },
  );
  const what = "first text of a later turn : bare call with @anthropic-ai/sdk";
  return [ratioRow({ name, what, measured: firstTexts(direct), against: firstTexts(bare) }, 2)];
}

async function newSessions(): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack();
  const { host, model, cwd, environment } = stack.use(await testHost(answer));
  const path = environment["PATH"] ?? "";
  const bareCall = bareCallOf(model);
  const { direct, cold, bare } = await interleave(
    { rounds: 30, warmUp: 2 },
    {
      async direct() {
        const watch = new TurnWatch();
        await using session = await host.startSession({ agent: agent({ engine: "direct" }), cwd });
        return await capstanTurn(session, "Hello", watch);
      },
      async cold() {
        await using session = new BareSession({ agent: agent(), cwd, url: model.url, path });
        return await session.oneTurn("Hello", { resume: false });
      },
      bare: bareCall,
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
  await using server = await served({ settings: "engine: direct\n" });
  const { client, model } = server;
  const { id } = await client.beta.sessions.create({ agent: server.agent, environment_id: server.environment });
  const stream = await client.beta.sessions.events.stream(id, { event_deltas: ["agent.message"] });
  const events = stream[Symbol.asyncIterator]();
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
      bare: bareCallOf(model),
    },
  );
  stream.controller.abort();
  const what = "first text of a later turn over HTTP and SSE : bare call with @anthropic-ai/sdk";
  return [ratioRow({ name, what, measured: firstTexts(direct), against: firstTexts(bare) }, 3)];
}

/** Repeats the agent's last request without Capstan, so that both carry the same conversation. */
function bareCallOf(model: ScriptedModel): () => Promise<TurnTime> {
  const client = new Anthropic({ baseURL: model.url, apiKey: "bench", maxRetries: 0 });
  return async () => {
    const body = (model.requests.at(-1)?.body ?? FIRST) as Anthropic.MessageStreamParams;
    const watch = new TurnWatch();
    const stream = client.messages.stream(body).on("text", () => watch.text());
    await stream.finalMessage();
    return watch.end();
  };
}

const FIRST: Anthropic.MessageStreamParams = {
  model: "claude-opus-4-8",
  max_tokens: 1_000,
  messages: [{ role: "user", content: "Hello" }],
};
