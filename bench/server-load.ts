import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { say as speak, type Script } from "../test/support/scripted-model.ts";
import { type BenchCase, countRow, factorRow, type Row } from "./row.ts";
import { firstLine, type Served, startServer } from "./serve-process.ts";
import { Subscribers } from "./subscribers.ts";

const name = "server-load";
const SESSIONS = 200;
const ACTIVE = 20;
const SUBSCRIBERS = 300;
const TURNS = 5;
const WORDS = 200;
const MEBIBYTE = 1_048_576;

/** Many sessions at once, and many followers of one session. */
export const serverLoad: BenchCase = {
  name,
  run: async () => [...(await manySessions()), ...(await manySubscribers())],
};

/** Both sides run from source, because packaging is not what is compared. */
async function manySessions(): Promise<readonly Row[]> {
  const capacity = `{ max_turns: ${ACTIVE}, max_idle_processes: ${ACTIVE}, max_cpu_pressure: 100, max_loop_delay_ms: 100000 }`;
  const settings = `hibernate_after_ms: 500\nserver: { capacity: ${capacity} }\n`;
  await using server = await startServer({ settings, fromSource: true, script: slowly });
  await using bare = await bareServer();
  const sessions: string[] = [];
  for (let index = 0; index < SESSIONS; index += 1) sessions.push(await newSession(server));
  while ((await agents(server)) > 0) await sleep(200);
  const active = sessions.slice(0, ACTIVE).map((id) => turn(server, id));
  while ((await running(server)) < ACTIVE) await sleep(50);
  const [processes, measured] = [await agents(server), residentMiB(server.pid)];
  await Promise.all(active);
  const figures = { measured, against: residentMiB(bare.pid), unit: "MiB" };
  const at = `${SESSIONS} sessions, ${ACTIVE} of them active`;
  return [
    countRow({ name, what: `agent processes, ${at}`, count: processes }, ACTIVE),
    factorRow(
      { name, what: `memory of the server, ${at} : bare Hono with the same routes`, ...figures },
      { atMost: 3 },
    ),
  ];
}

/** Long enough for all sessions to run at the same time. */
const slowly: Script = () => speak(Array.from({ length: 100 }, () => "word").join(" "), { pace: 200 });

async function agents(server: Served): Promise<number> {
  return metric(server, "capstan_agent_processes");
}

async function running(server: Served): Promise<number> {
  return metric(server, "capstan_turns_running");
}

async function metric({ url, apiKey }: Served, wanted: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { "x-api-key": apiKey } })).text();
  const values = [...text.matchAll(new RegExp(`^${wanted}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

const words: Script = () => speak(Array.from({ length: WORDS }, (_, index) => `word${index}`).join(" "), { pace: 1 });

async function manySubscribers(): Promise<readonly Row[]> {
  await using server = await startServer({ fromSource: true, script: words });
  await using bare = await bareServer();
  const id = await newSession(server);
  const stream = `${server.url}/v1/sessions/${id}/events/stream?event_deltas=agent.message`;
  using readers = await Subscribers.open(SUBSCRIBERS, stream, server.apiKey);
  const before = await headOf(server, id);
  const started = performance.now();
  for (let count = 0; count < TURNS; count += 1) await turn(server, id);
  const head = await headOf(server, id);
  await readers.waitUntilTold(head);
  const rate = readers.frames / (performance.now() - started);
  const all = Array.from({ length: head - before }, (_, index) => before + 1 + index).join();
  const lost = readers.ids.filter((ids) => ids.filter((place) => place > before).join() !== all).length;

  using others = await Subscribers.open(SUBSCRIBERS, `${bare.url}/bare/stream`, "");
  const frames = Math.round(readers.frames / SUBSCRIBERS);
  const bareStarted = performance.now();
  const event = {
    type: "event_delta",
    event_id: id,
    delta: { type: "content_delta", content: { type: "text", text: "word" } },
  };
  await fetch(`${bare.url}/bare/publish`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ events: Array.from({ length: frames }, () => event) }),
  });
  await others.waitUntilTold(frames);
  const bareRate = others.frames / (performance.now() - bareStarted);
  const figures = { measured: rate * 1_000, against: bareRate * 1_000, unit: "/s" };
  return [
    countRow({ name, what: `of ${SUBSCRIBERS} subscribers that lost an event of ${head - before}`, count: lost }, 0),
    factorRow({ name, what: "frames to all subscribers : a bare Hono SSE endpoint", ...figures }, { atLeast: 0.5 }),
  ];
}

async function newSession({ client, agent, environment }: Served): Promise<string> {
  return (await client.beta.sessions.create({ agent, environment_id: environment })).id;
}

/** Sends a message and waits until the session is idle again. */
async function turn({ client }: Served, id: string): Promise<void> {
  const text = { type: "text" as const, text: "Go on." };
  await client.beta.sessions.events.send(id, { events: [{ type: "user.message", content: [text] }] });
  while ((await client.beta.sessions.retrieve(id)).status !== "idle") await sleep(50);
}

/** The length of the log. */
async function headOf({ client }: Served, id: string): Promise<number> {
  let count = 0;
  for await (const _event of client.beta.sessions.events.list(id, { limit: 1_000 })) count += 1;
  return count;
}

async function bareServer(): Promise<AsyncDisposable & { readonly pid: number; readonly url: string }> {
  const child = spawn(process.execPath, ["bench/bare-server.ts"], { stdio: ["ignore", "pipe", "inherit"] });
  const { url } = await firstLine<{ url: string }>(child);
  return {
    pid: child.pid ?? 0,
    url,
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
    },
  };
}

function residentMiB(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kib) * 1_024) / MEBIBYTE;
}
