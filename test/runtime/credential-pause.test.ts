import { join } from "node:path";
import { expect, test } from "vitest";
import { clock, ids } from "../../src/app/clock.ts";
import type { SessionEvent } from "../../src/core/events/events.ts";
import { inTurn } from "../../src/core/session/state.ts";
import { createRedactor } from "../../src/core/redaction/redaction.ts";
import { ActiveTurn } from "../../src/runtime/turn/current-turn.ts";
import { CredentialPause } from "../../src/runtime/turn/credential-pause.ts";
import { TurnMachine } from "../../src/runtime/turn/turn-state.ts";
import { Feed } from "../../src/runtime/log/feed.ts";
import { SessionLog } from "../../src/runtime/log/session-log.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { sampleOwner, sampleSession } from "../store/samples.ts";
import { temporaryDirectory } from "../support/host.ts";

/** A session in a turn with a deadline. */
async function scene() {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const store = stack.use(await openSqliteStore({ path: join(directory.path, "capstan.db"), clock }));
  await store.createSession(sampleSession("sesn_1"));
  const lease = await store.leases.acquire("sesn_1", sampleOwner("host_a"), 60_000);
  const given = { store, sessionId: "sesn_1", lease, feed: new Feed(), clock, ids, redactor: createRedactor() };
  const log = await SessionLog.open(given);
  const machine = new TurnMachine("idle");
  log.watch((event) => machine.follow(event));
  const turn = new ActiveTurn({ clock, limitMs: 60_000, onLate: () => {}, onOver: () => {}, worker: "process" });
  stack.defer(() => turn.release());
  machine.onChange((state) => turn.follow(state));
  machine.apply("start");
  await log.append([{ type: "session.status_running" }]);
  machine.apply("work");
  const pause = new CredentialPause({ log, clock });
  const until = clock.now() + 90_000;
  const parts = stack.move();
  return {
    log,
    machine,
    turn,
    begin: (message = "no.") => pause.begin(turn, { status: 401, message, remedy: "Log in.", isExpired: true, until }),
    types: async () => (await store.events("sesn_1")).map(({ event }: { event: SessionEvent }) => event.type),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("a pause begins with the first request that waits and ends with the last, and no time runs meanwhile", async () => {
  await using s = await scene();
  const [first, second] = [await s.begin(), await s.begin()];
  expect(s.log.state.status).toBe("rescheduling");
  expect(inTurn(s.log.state)).toBe(true);
  expect(s.machine.state).toBe("held");
  expect(s.turn.deadline).toBeUndefined();
  await first();
  expect(s.log.state.status).toBe("rescheduling");
  await second();
  expect(s.log.state).toMatchObject({ status: "running", turns: 1 });
  expect(s.turn.deadline).toBeGreaterThan(clock.now());
  expect(await s.types()).toEqual([
    "session.status_running",
    "session.error",
    "session.status_rescheduled",
    "session.status_running",
  ]);
});

test("no time runs in a pause that begins while something else happens, or while another one ends", async () => {
  await using s = await scene();
  const beginning = s.begin();
  s.turn.follow(s.machine.state);
  const over = await beginning;
  expect(s.turn.deadline).toBeUndefined();
  const ending = over();
  const [second] = await Promise.all([s.begin(), ending]);
  expect(s.log.state.status).toBe("rescheduling");
  expect(s.turn.deadline).toBeUndefined();
  await second();
  expect(s.turn.deadline).toBeGreaterThan(clock.now());
});

test("a try that is refused with the same words is not told again, and one with others is", async () => {
  await using s = await scene();
  for (const message of ["no.", "no.", "not this one either."]) await (await s.begin(message))();
  const types = await s.types();
  expect(types.filter((type) => type === "session.status_rescheduled")).toHaveLength(3);
  expect(types.filter((type) => type === "session.error")).toHaveLength(2);
  expect(s.log.state.status).toBe("running");
});

test("a turn that is to stop does not say that it goes on", async () => {
  await using s = await scene();
  const over = await s.begin();
  s.machine.apply("interrupt");
  await over();
  expect(s.log.state.status).toBe("rescheduling");
  expect(s.turn.deadline).toBeUndefined();
});
