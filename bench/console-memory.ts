import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession } from "playwright-core";
import { say, type Script } from "../test/support/scripted-model.ts";
import { consoleBench } from "./console-browser.ts";
import { factorRow, type Row } from "./row.ts";
import { median } from "./statistics.ts";

/** What a model says in ten minutes, at thirty words a second. */
const WORDS = 18_000;
const WORDS_OF_TURN = 300;
/** The duration of the stream (default: faster than a model would speak; BENCH_STREAM_MINUTES=10 is realistic). */
const MINUTES = Number(process.env["BENCH_STREAM_MINUTES"] ?? 1.25);
const PACE_MS = (MINUTES * 60_000) / WORDS;
const SAMPLES = 24;

/** Whether the memory of a page that is left open grows. */
export async function memory(name: string): Promise<readonly Row[]> {
  await using bench = await consoleBench(talk);
  const { client, agent, environment, url } = bench.server;
  const { id } = await client.beta.sessions.create({ agent, environment_id: environment });
  await using window = await bench.open();
  const { page, context } = window;
  const devtools = await context.newCDPSession(page);
  await page.goto(`${url}/sessions/${id}`);
  const turn = async (): Promise<void> => {
    const text = { type: "text" as const, text: "Go on." };
    await client.beta.sessions.events.send(id, { events: [{ type: "user.message", content: [text] }] });
    while ((await client.beta.sessions.retrieve(id)).status !== "idle") await sleep(50);
  };
  const heap: number[] = [];
  const turns = WORDS / WORDS_OF_TURN;
  for (let count = 1; count <= turns; count += 1) {
    await turn();
    if (Math.floor((count * SAMPLES) / turns) > heap.length) heap.push(await usedHeap(devtools));
  }
  // Measure only a page that followed the whole stream.
  await page.getByText(`word ${WORDS_OF_TURN - 1} of answer ${answers - 1}`).waitFor();
  const third = heap.length / 3;
  const what = `JS heap of a page after GC, last third of ${WORDS.toLocaleString("en")} words in ${MINUTES} min : first third`;
  const figures = { measured: median(heap.slice(-third)), against: median(heap.slice(0, third)) };
  console.error(`heap in kB: ${heap.map((value) => Math.round(value)).join(" ")}`);
  return [factorRow({ name, what, ...figures, unit: "kB" }, { atMost: 1.2 })];
}

let answers = 0;
const talk: Script = ({ body }) => {
  // The CLI also sends small side requests, for example for a title.
  if (body.tools === undefined && body.messages.length === 1 && body.stream !== true) return say("A title");
  const answer = answers++;
  const words = Array.from({ length: WORDS_OF_TURN / 5 }, (_, index) =>
    index % 12 === 5
      ? `\n\n\`\`\`ts\nconst value${index} = 1;\n\`\`\`\n\n`
      : `word ${index * 5 + 4} of answer ${answer}${index % 6 === 3 ? "\n\n" : ""}`,
  );
  return say(words.join(" "), { pace: PACE_MS });
};

/** Memory still in use, in kB. */
async function usedHeap(devtools: CDPSession): Promise<number> {
  await devtools.send("HeapProfiler.collectGarbage");
  return (await devtools.send("Runtime.getHeapUsage")).usedSize / 1_000;
}
