import { expect, test } from "vitest";
import { openStore } from "../../src/app/open-store.ts";
import { uuidOf } from "../../src/core/ports/clock.ts";
import { historyOf } from "../../src/core/session/history.ts";
import type { TranscriptEntry } from "../../src/core/ports/store.ts";
import { agree } from "../engines/transcript-checks.ts";
import { appendsOfFirstTurn, expectFirstMessage, type Moment } from "../support/crash/first-turn.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { obedient, order } from "../support/obedient-model.ts";

// A message is accepted, logged, given to the process, put into a request, noted as delivered and written to the
// transcript. The log and the transcript are all that outlives a host, so each place between two of their appends is a
// moment to die at. What was written after an append is what was written before the next one.
const { log, transcript } = await appendsOfFirstTurn();
const before = (to: "log" | "transcript", count: number): readonly Moment[] =>
  Array.from({ length: count }, (_, at) => ({ to, append: at + 1, when: "before" }));
const moments: readonly Moment[] = [
  { to: "model" },
  ...before("log", log),
  { to: "log", append: log, when: "after" },
  ...before("transcript", transcript),
];

test.each(moments.map((moment) => [JSON.stringify(moment), moment] as const))(
  "every request has the first message when the host dies in the first turn: %s",
  (_name, moment) => expectFirstMessage(moment),
);

/** What the CLI sends of a transcript: it follows the links from the last one. */
function sentEntries(entries: readonly TranscriptEntry[]): readonly unknown[] {
  const links = entries.filter(({ uuid, type }) => uuid !== undefined && LINKED.includes(type));
  const byId = new Map(links.map((entry) => [entry.uuid, entry]));
  const found: unknown[] = [];
  let entry = links.at(-1);
  while (entry !== undefined && !found.includes(entry.uuid)) {
    found.push(entry.uuid);
    entry = byId.get(entry["parentUuid"] as string);
  }
  return found;
}
const LINKED = ["user", "assistant", "attachment", "system"];

test("whatever is left of the log and the transcript of a first turn, the message is sent once", async () => {
  await using t = await testHost(obedient);
  const worker = agent({ tools: ["Bash"], permissions: { mode: "yolo" } });
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session.send(order(["Bash", { command: "echo one" }])).result();
  const events = await eventsOf(t.host, session.id);
  await session.close();
  await using store = await openStore(t.home, {});
  const entries = await store.transcripts.load(session.id, "");
  const [message] = ofType(events, "user.message");
  const uuid = uuidOf(message?.id ?? "");
  expect(entries.filter((entry) => entry.uuid === uuid)).toHaveLength(1);
  let looked = 0;
  for (let logged = 1; logged <= events.length; logged++) {
    const left = events.slice(0, logged);
    const isDelivered = ofType(left, "capstan.input_delivered").length > 0;
    for (let written = 0; written <= entries.length; written++) {
      const agreed = agree(entries.slice(0, written), historyOf(left));
      const times = sentEntries(agreed.entries).filter((id) => id === uuid).length;
      // One that was not delivered is given to the next process, and must not be there already.
      expect(times, `${logged} events, ${written} entries`).toBe(isDelivered ? 1 : 0);
      looked += 1;
    }
  }
  expect(looked).toBe(events.length * (entries.length + 1));
});
