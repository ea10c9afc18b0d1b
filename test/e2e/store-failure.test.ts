import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { assemble } from "../../src/app/assemble.ts";
import { clock } from "../../src/app/clock.ts";
import { CapstanError } from "../../src/core/errors.ts";
import type { SessionEvent } from "../../src/core/events/events.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { upstreamsFor } from "../../src/gateway/upstreams/upstreams.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { agent, eventsOf, ofType, temporaryDirectory, testEnvironment } from "../support/host.ts";
import { call, say, scriptedModel } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

/** A host on the real store whose disk can be made full. */
async function hostWithFullDisk(modelUrl: string, directory: string) {
  const disk: { full: boolean | ((events: readonly SessionEvent[]) => boolean) } = { full: false };
  const store = await openSqliteStore({ path: join(directory, "home", "capstan.db"), clock });
  const append: Store["append"] = async (...given) => {
    if (typeof disk.full === "function" ? disk.full(given[1].events) : disk.full)
      throw new CapstanError("store_full", "The disk is full. Free some space and send the message again.");
    return store.append(...given);
  };
  const environment = testEnvironment(modelUrl);
  const settings = {
    home: join(directory, "home"),
    engine: TEST_ENGINE,
    path: environment["PATH"] ?? "",
    retries: 0,
    upstreamIdleMs: 10_000,
    hibernateAfterMs: 60_000,
  };
  const upstream = await upstreamsFor({ environment })();
  return { disk, host: await assemble(settings, { store: { ...store, append }, upstream }) };
}

test("a full disk in a turn stops the agent, tells the caller, and the session goes on when there is room", async () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "work"));
  await using model = await scriptedModel((request) =>
    request.last.includes("Again") || request.toolResults.length > 0
      ? say("done")
      : call("Bash", { command: "sleep 0.2; echo ran >> effects.txt" }),
  );
  const { disk, host } = await hostWithFullDisk(model.url, directory.path);
  await using _host = host;
  const session = await host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } }),
    cwd: join(directory.path, "work"),
  });
  const turn = session.send("Work.");
  const following = (async () => {
    for await (const item of turn) if (item.type === "capstan.permission_decided") disk.full = true;
  })();
  await expect(following).rejects.toMatchObject({ code: "store_full" });
  await expect(session.send("Not now.").result()).rejects.toMatchObject({ code: "store_full" });
  const requests = model.requests.length;
  disk.full = false;
  expect((await session.send("Again.").result()).stopReason).toEqual({ type: "end_turn" });
  expect(model.requests.length).toBe(requests + 1);
  const events = await eventsOf(host, session.id);
  expect(ofType(events, "agent.tool_result").map((event) => event.outcome)).toEqual(["aborted"]);
  expect(ofType(events, "session.status_idle").map((event) => event.stop_reason.type)).toEqual([
    "retries_exhausted",
    "end_turn",
  ]);
  expect(model.requests.at(-1)?.transcript).toContain("its outcome is unknown");
});

const isEnd = (events: readonly SessionEvent[]): boolean => events.some(({ type }) => type === "session.status_idle");

test("a turn whose end cannot be written is let go: others get its place, and the session goes on afterwards", async () => {
  using directory = temporaryDirectory();
  const cwd = join(directory.path, "work");
  mkdirSync(cwd);
  await using model = await scriptedModel((request) => say(`answer ${request.index}`));
  const { disk, host } = await hostWithFullDisk(model.url, directory.path);
  await using _host = host;
  const writing = agent({ tools: ["Write"] });
  const session = await host.startSession({ agent: writing, cwd });
  disk.full = isEnd;
  await expect(session.send("Work.").result()).rejects.toMatchObject({ code: "store_full" });
  disk.full = false;
  // In the same directory, where only one turn works at a time.
  const other = await host.startSession({ agent: writing, cwd });
  expect((await other.send("Me too.").result()).stopReason).toEqual({ type: "end_turn" });
  expect((await session.send("Again.").result()).stopReason).toEqual({ type: "end_turn" });
  expect(ofType(await eventsOf(host, session.id), "session.status_idle")).toHaveLength(2);
  expect(model.requests.at(-1)?.transcript).toContain("Work.");
});

test("an interrupt of a turn whose end cannot be written comes back", async () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "work"));
  await using model = await scriptedModel((request) =>
    request.last.includes("Again") ? say("done") : say("word ".repeat(500), { pace: 10 }),
  );
  const { disk, host } = await hostWithFullDisk(model.url, directory.path);
  await using _host = host;
  const session = await host.startSession({ agent: agent(), cwd: join(directory.path, "work") });
  const turn = session.send("Talk.");
  const following = (async () => {
    for await (const item of turn) {
      if (item.type !== "event_start") continue;
      disk.full = isEnd;
      await session.interrupt();
    }
  })();
  await expect(following).rejects.toMatchObject({ code: "store_full" });
  disk.full = false;
  expect((await session.send("Again.").result()).text).toContain("done");
});

test("a compaction that cannot begin leaves no turn behind", async () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "work"));
  await using model = await scriptedModel((request) => say(`answer ${request.index}`));
  const { disk, host } = await hostWithFullDisk(model.url, directory.path);
  await using _host = host;
  const session = await host.startSession({ agent: agent(), cwd: join(directory.path, "work") });
  await session.send("Hello.").result();
  disk.full = true;
  await expect(session.compact().result()).rejects.toMatchObject({ code: "store_full" });
  disk.full = false;
  expect((await session.send("Again.").result()).stopReason).toEqual({ type: "end_turn" });
  expect(ofType(await eventsOf(host, session.id), "session.status_idle")).toHaveLength(2);
});

test("a host that has lost its session to another stops at once and says so", async () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "work"));
  await using model = await scriptedModel(() => say("word ".repeat(500), { pace: 10 }));
  const { host } = await hostWithFullDisk(model.url, directory.path);
  await using _host = host;
  const session = await host.startSession({ agent: agent(), cwd: join(directory.path, "work") });
  const turn = session.send("Talk.");
  await using other = await openSqliteStore({ path: join(directory.path, "home", "capstan.db"), clock });
  const following = (async () => {
    for await (const item of turn) {
      if (item.type !== "event_start") continue;
      const holder = await other.leases.holder(session.id);
      await other.leases.evict(session.id, holder?.hostId ?? "");
      await other.leases.acquire(session.id, { hostId: "host_other", pid: 1, hostname: "elsewhere" }, 60_000);
    }
  })();
  await expect(following).rejects.toMatchObject({ code: "lease_lost" });
});

test("an interrupt that comes before the agent process is ready ends the turn", async () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "work"));
  await using model = await scriptedModel((request) => say(`answer ${request.index}`));
  const { host } = await hostWithFullDisk(model.url, directory.path);
  await using _host = host;
  const session = await host.startSession({ agent: agent(), cwd: join(directory.path, "work") });
  const turn = session.send("Wait, no.");
  for await (const item of turn) if (item.type === "session.status_running") await session.interrupt();
  expect((await turn.result()).stopReason).toEqual({ type: "end_turn" });
  // The direct engine has no process to wait for: its first request may be on its way.
  expect(model.requests.length).toBeLessThanOrEqual(TEST_ENGINE === "claude" ? 0 : 1);
  expect((await session.send("Now.").result()).text).toContain("answer");
  expect(model.requests.at(-1)?.transcript).toContain("Wait, no.");
});
