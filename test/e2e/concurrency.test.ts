import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { openStore } from "../../src/app/open-store.ts";
import { thisProcess } from "../../src/app/host/processes.ts";
import { example } from "../support/event-examples.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, say, toolUse } from "../support/scripted-model.ts";

const shell = agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } });

test("a turn that takes longer than idle processes are kept is not put to rest", async () => {
  await using t = await testHost(
    (request) => (request.toolResults.length > 0 ? say("done") : call("Bash", { command: "sleep 4" })),
    { hibernateAfterMs: 300 },
  );
  const session = await t.host.startSession({ agent: shell, cwd: t.cwd });
  expect((await session.send("Take your time.").result()).text).toBe("done");
});

test("an interrupt stops everything; a message that waited is answered in the next turn", async () => {
  await using t = await testHost((request) =>
    request.index === 0 ? call("Bash", { command: "sleep 100" }) : say(`answer ${request.index}`),
  );
  const session = await t.host.startSession({ agent: shell, cwd: t.cwd });
  const turn = session.send("Begin.");
  for await (const item of session.events()) if (item.type === "capstan.permission_decided") break;
  const queued = session.send("And this.");
  for await (const item of session.events())
    if (item.type === "user.message" && JSON.stringify(item.content).includes("And this")) break;
  await session.interrupt();
  await Promise.all([turn.result(), queued.result()]);
  expect(session.state.status).toBe("idle");
  await sleep(300);
  expect(t.model.requests).toHaveLength(1);
  await session.send("Now.").result();
  expect(t.model.requests.at(-1)?.transcript).toMatch(/And this\.[^]*Now\./);
});

test("a message sent while the output is being checked starts a turn of its own", async () => {
  await using t = await testHost((request) => call("StructuredOutput", { n: request.index }));
  const output = z.object({ n: z.number().refine(async () => sleep(400, true)) });
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd, output });
  const first = session.send("One.");
  for await (const item of session.events()) if (item.type === "agent.tool_result") break;
  await sleep(150);
  const second = session.send("Two.");
  expect((await first.result()).output).toEqual({ n: 0 });
  expect((await second.result()).output).toEqual({ n: 1 });
  const idles = ofType(await eventsOf(t.host, session.id), "session.status_idle");
  expect(idles.map((event) => event.stop_reason.type)).toEqual(["end_turn", "end_turn"]);
});

test("a session is opened once, however many ask for it at the same time", async () => {
  await using t = await testHost(() => say("ok"));
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await session.send("hello").result();
  await session.close();
  const opened = await Promise.allSettled([t.host.resumeSession(session.id), t.host.resumeSession(session.id)]);
  expect(opened.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("a limit on tool calls holds for calls that are asked about together", async () => {
  await using t = await testHost((request) =>
    request.toolResults.length > 0
      ? say("done")
      : { blocks: [1, 2, 3].map((number) => toolUse("Bash", { command: `echo ${number} >> effects.txt` })) },
  );
  const session = await t.host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { ask: ["Bash"] }, budget: { tool_calls: 1 } }),
    cwd: t.cwd,
    askPermission: async () => sleep(100, { behavior: "allow" as const }),
  });
  expect((await session.send("Go.").result()).stopReason).toEqual({ type: "budget_reached" });
  const allowed = ofType(await eventsOf(t.host, session.id), "capstan.permission_decided").filter(
    (event) => event.decision === "allow",
  );
  expect(allowed).toHaveLength(1);
});

test("recovery that ends a turn does not wait for messages that nobody took", async () => {
  await using t = await testHost(() => say("ok"));
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await session.send("hello").result();
  await session.close();
  // As a host leaves it that dies right after storing a message and the start of its turn.
  await using store = await openStore(t.home);
  const dead = { ...thisProcess("host_dead"), pid: 4_190_000 };
  const { fence } = await store.leases.acquire(session.id, dead, 60_000);
  const after = await store.head(session.id);
  const message = example("user.message", { id: "sevt_00000000000000000000000000000001" });
  await store.append(session.id, { after, fence, events: [message, example("session.status_running", {})] });

  expect(await t.host.recover("stop")).toEqual([{ sessionId: session.id, stopReason: expect.any(String) as string }]);
  const resumed = await t.host.resumeSession(session.id);
  await resumed.send("Are you there?").result();
  expect(resumed.state.undelivered).toEqual([]);
});

test("a follower goes on when another host takes the session over", async () => {
  await using t = await testHost((request) => say(`answer ${request.index}`));
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  const stop = new AbortController();
  const seen: string[] = [];
  const following = (async () => {
    for await (const item of t.host.events(session.id, { signal: stop.signal })) {
      if (item.type === "agent.message") seen.push(JSON.stringify(item.content));
      if (seen.length === 2) stop.abort();
    }
  })();
  await session.send("One.").result();
  await session.close();
  await using other = await t.another();
  const taken = await other.resumeSession(session.id);
  await taken.send("Two.").result();
  await following;
  expect(seen.join()).toContain("answer 1");
});

test("reading and editing outside the workspace is asked about, also through a link or a climb", async () => {
  const paths = ["/etc/hostname", "../outside.txt", "~/secret"];
  await using t = await testHost((request) =>
    request.toolResults.length > 0 ? say("done") : { blocks: paths.map((file_path) => toolUse("Read", { file_path })) },
  );
  writeFileSync(join(t.cwd, "..", "outside.txt"), "outside");
  const asked: unknown[] = [];
  const session = await t.host.startSession({
    agent: agent({ tools: ["Read"] }),
    cwd: t.cwd,
    askPermission: ({ input }) => {
      asked.push(input["file_path"]);
      return { behavior: "deny" as const };
    },
  });
  await session.send("Read them.").result();
  // The CLI writes the paths out in full before it asks.
  expect(asked).toHaveLength(paths.length);
});
