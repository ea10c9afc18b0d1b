import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHost } from "../../src/app/open-host.ts";
import { FASTER } from "../support/cli.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { say, type ScriptedModel, text, thinking, toolUse } from "../support/scripted-model.ts";

const worker = agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } });

const script = (request: { toolResults: readonly unknown[]; last: string; index: number }) =>
  request.last.includes("Use the shell") && request.toolResults.length === 0
    ? { blocks: [thinking("hmm"), text("Looking."), toolUse("Bash", { command: "echo tool-says-$((40+2))" })] }
    : say(`answer ${request.index}`);

/** Everything the model must still know of the first turn. */
function expectFirstTurn(model: ScriptedModel): void {
  const seen = model.requests.at(-1)?.transcript;
  for (const part of ["Use the shell.", "Looking.", "echo tool-says-", "tool-says-42", "answer 1"])
    expect(seen).toContain(part);
}

test("a session goes on in another process and directory with its whole history", async () => {
  await using t = await testHost(script);
  const child = fork(join(import.meta.dirname, "../support/one-turn.ts"), [], {
    stdio: "inherit",
    env: { ...process.env, ...FASTER },
  });
  child.send({ home: t.home, cwd: t.cwd, environment: t.environment, agent: worker, message: "Use the shell." });
  const [sessionId] = (await once(child, "message")) as [string];
  await once(child, "exit");

  const elsewhere = join(t.home, "elsewhere");
  mkdirSync(elsewhere, { recursive: true });
  const session = await t.host.resumeSession(sessionId, { cwd: elsewhere });
  expect((await session.send("Go on.").result()).text).toBe("answer 2");
  expectFirstTurn(t.model);
  const events = await eventsOf(t.host, sessionId);
  expect(ofType(events, "capstan.process_started").map((event) => event.history)).toEqual(["new", "resumed"]);
  expect(ofType(events, "capstan.prompt_rendered").map((event) => event.cwd)).toEqual([t.cwd, elsewhere]);
});

test("a fork knows what was said before it and nothing of what comes after in the other", async () => {
  await using t = await testHost(script);
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session.send("Use the shell.").result();
  const fork = await t.host.forkSession(session.id);
  await session.send("Only in the parent.").result();
  await fork.send("Only in the fork.").result();
  expectFirstTurn(t.model);
  expect(t.model.requests.at(-1)?.transcript).not.toContain("Only in the parent.");
  await session.send("Parent again.").result();
  expect(t.model.requests.at(-1)?.transcript).not.toContain("Only in the fork.");
  expect(fork.state.usd).toBeLessThan(session.state.usd);
  expect(fork.record.forkedFrom?.sessionId).toBe(session.id);
});

test("a fork at an earlier place forgets what came after it", async () => {
  await using t = await testHost(script);
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session.send("Use the shell.").result();
  const at = (await t.host.read(session.id)).length;
  await session.send("A later question.").result();
  const fork = await t.host.forkSession(session.id, { at });
  await fork.send("Another way.").result();
  expectFirstTurn(t.model);
  expect(t.model.requests.at(-1)?.transcript).not.toContain("A later question.");
});

test("an idle process ends by itself and the next message wakes the session", async () => {
  await using t = await testHost(script, { hibernateAfterMs: 1 });
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session.send("Use the shell.").result();
  const [first] = ofType(await eventsOf(t.host, session.id), "capstan.process_started");
  await expect.poll(() => t.host.load().processes).toBe(0);
  const { pid } = first ?? {};
  if (pid !== undefined) await expect.poll(() => alive(pid)).toBe(false);
  await session.send("Awake?").result();
  expectFirstTurn(t.model);
});

test("following a session from a sequence number gives every later event once", async () => {
  await using t = await testHost(script);
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session.send("Use the shell.").result();
  const all = await eventsOf(t.host, session.id);
  await using other = await openHost({ home: t.home, environment: t.environment });
  const stop = new AbortController();
  const seen: number[] = [];
  const following = (async () => {
    for await (const item of other.events(session.id, { after: 5, signal: stop.signal })) {
      if (!("seq" in item)) continue;
      seen.push(item.seq);
      if (item.type === "session.status_idle" && item.seq > all.length) stop.abort();
    }
  })();
  await session.send("More.").result();
  await following;
  const head = (await t.host.read(session.id)).length;
  expect(seen).toEqual(Array.from({ length: head - 5 }, (_, index) => index + 6));
});

test("a session that another process drives is refused, and the error names the other", async () => {
  await using t = await testHost(script);
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await using other = await openHost({ home: t.home, environment: t.environment });
  await expect(other.resumeSession(session.id)).rejects.toMatchObject({
    code: "session_busy",
    message: expect.stringContaining(String(process.pid)) as string,
  });
  await session.close();
  const taken = await other.resumeSession(session.id);
  expect((await taken.send("Mine now.").result()).text).toBe("answer 0");
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
