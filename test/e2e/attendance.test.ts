import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import { agent, eventsOf, ofType, testHost, temporaryDirectory } from "../support/host.ts";
import { call, say, type Script } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";

const answers: Script = (request) => say(`Answer ${request.index}.`);
const runs =
  (command: string): Script =>
  (request) =>
    request.toolResults.length === 0 ? call("Bash", { command }) : say("Done.");
const writesOut = runs("echo done > out.txt");
const readsUploads = runs("cat uploads/data.txt later.txt; ls");
const denies = () => ({ deny: "Never." });
const EMPTY: EnvironmentInput = { workspace: { kind: "copy", mounts: [] } };

describe("attending to a session", () => {
  test("gives the one this host drives, and takes over one that nobody drives, once for all who ask at once", async () => {
    await using t = await testHost(answers);
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
    expect(await t.host.attend(session.id)).toBe(session);
    await session.send("One.").result();
    await session.close();

    const [one, other] = await Promise.all([t.host.attend(session.id), t.host.attend(session.id)]);
    expect(one).toBe(other);
    expect(await one.send("Two.").result()).toMatchObject({ stopReason: { type: "end_turn" } });
  });

  test("is refused while another process drives it, and for an archived session", async () => {
    // Nothing is said to its agent, so that it needs no process.
    await using t = await testHost(answers, { capacity: { max_idle_processes: 0 } });
    await using other = await t.another();
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
    await expect(other.attend(session.id)).rejects.toMatchObject({ code: "session_busy" });
    await t.host.archive(session.id);
    await expect(other.attend(session.id)).rejects.toMatchObject({ code: "session_archived" });
  });
});

describe("a host that watches", () => {
  test("goes on with what another was cut off from, and gives sessions free that have nothing to do", async () => {
    const [{ promise: answer, resolve: goOn }, seen] = [Promise.withResolvers<void>(), [] as string[]];
    const script: Script = (request) => {
      seen.push(request.last);
      return seen.length === 1 ? { ...say("Never sent."), delay: answer } : say("After the restart.");
    };
    await using t = await testHost(script, { hibernateAfterMs: 0 });
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
    void session.send("Work.");
    await until(
      () => seen.length,
      (count) => count === 1,
    );
    await t.host.suspend(0);
    goOn();

    const next = await t.another({ hibernateAfterMs: 0 });
    const problems: unknown[] = [];
    const stop = new AbortController();
    const watching = next.watch({ signal: stop.signal, onProblem: (id, error) => problems.push(id, error) });
    const events = await until(
      () => eventsOf(next, session.id),
      (all) => all.at(-1)?.type === "session.status_idle",
    );
    expect(ofType(events, "agent.message").map(({ content }) => content)).toEqual([
      [{ type: "text", text: "After the restart." }],
    ]);
    expect(events.map(({ type }) => type)).toContain("session.status_rescheduled");
    await until(
      () => next.load(),
      ({ sessions, processes }) => sessions === 0 && processes === 0,
    );
    expect(problems).toEqual([]);
    stop.abort();
    await watching;
    await next.close();
  });

  test("takes up an answer that came while nobody drove the session", async () => {
    await using t = await testHost(writesOut);
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
    await session.send("Work.").result();
    await t.host.suspend(0);

    const next = await t.another();
    const [approval] = await next.approvals.list({ status: "pending" });
    await next.approvals.answer(approval?.id ?? "", { behavior: "allow" }, { by: "me" });
    const stop = new AbortController();
    const watching = next.watch({ signal: stop.signal, onProblem: () => {} });
    await until(
      () => next.state(session.id),
      ({ status, stopReason }) => status === "idle" && stopReason?.type === "end_turn",
    );
    expect(readFileSync(join(t.cwd, "out.txt"), "utf8")).toBe("done\n");
    stop.abort();
    await watching;
    await next.close();
  });

  test("lets running turns finish within the grace", async () => {
    const { promise: answer, resolve: goOn } = Promise.withResolvers<void>();
    await using t = await testHost(() => ({ ...say("Finished."), delay: answer }));
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
    void session.send("Work.");
    await until(
      () => t.model.requests.length,
      (count) => count === 1,
    );
    const suspending = t.host.suspend(60_000);
    goOn();
    await suspending;
    const next = await t.another();
    expect((await next.state(session.id)).stopReason).toEqual({ type: "end_turn" });
    await next.close();
  });
});

describe("turns beyond what the host takes on", () => {
  test("wait for their place, and can be interrupted while they do", async () => {
    const { promise: answer, resolve: goOn } = Promise.withResolvers<void>();
    await using t = await testHost(() => ({ ...say("Hello."), delay: answer }), {
      capacity: { max_turns: 1, max_queue: 2 },
    });
    using elsewhere = temporaryDirectory();
    const first = await t.host.startSession({ agent: agent(), cwd: t.cwd });
    const second = await t.host.startSession({ agent: agent(), cwd: elsewhere.path });
    const running = first.send("One.").result();
    await until(
      () => t.host.load(),
      ({ turns }) => turns === 1,
    );
    const interrupted = second.send("Two.").result();
    await until(
      () => t.host.load(),
      ({ waitingTurns }) => waitingTurns === 1,
    );
    await second.interrupt();
    expect(await interrupted).toMatchObject({ stopReason: { type: "end_turn" } });
    // What nobody has taken up yet is taken up together with it: in one answer or in two, as the engine does it.
    const waiting = second.send("Three.").result();
    goOn();
    expect(await running).toMatchObject({ text: "Hello." });
    expect((await waiting).text).toMatch(/^Hello\.(\nHello\.)?$/);
    expect(t.model.requests.at(-1)?.transcript.match(/Two\.|Three\./g)).toEqual(["Two.", "Three."]);
    expect(t.host.load()).toMatchObject({ turns: 0, waitingTurns: 0 });
  });
});

describe("a session as a whole", () => {
  test("is renamed, gets other limits and small facts, which the log tells and a turn under way heeds", async () => {
    await using t = await testHost(answers);
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd, metadata: { a: "1", b: "2" } });
    const record = await t.host.update(session.id, { title: "New", metadata: { a: null, c: "3" }, maxUsd: 0.000_001 });
    expect(record).toMatchObject({ title: "New", metadata: { b: "2", c: "3" } });
    expect(await t.host.session(session.id)).toEqual(record);
    expect(await session.send("Spend.").result()).toMatchObject({ stopReason: { type: "budget_reached" } });
    await t.host.update(session.id, { maxUsd: null });
    expect(await session.send("Spend.").result()).toMatchObject({ stopReason: { type: "end_turn" } });
    expect(ofType(await eventsOf(t.host, session.id), "session.updated")).toMatchObject([
      { title: "New", metadata: { b: "2", c: "3" } },
      { budget: null },
    ]);
  });

  test("is archived: what it does is interrupted, and it can only be read from then on", async () => {
    await using t = await testHost(answers);
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
    await session.send("One.").result();
    const { archivedAt } = await t.host.archive(session.id);
    expect(archivedAt).toEqual(expect.any(Number));
    expect((await t.host.archive(session.id)).archivedAt).toBe(archivedAt);
    await expect(t.host.update(session.id, { title: "x" })).rejects.toMatchObject({ code: "session_archived" });
    expect((await t.host.sessions({ includeArchived: false })).length).toBe(0);
    expect((await eventsOf(t.host, session.id)).at(-1)?.type).toBe("capstan.session_archived");
    expect(await t.host.verify(session.id)).toMatchObject({ ok: true });
  });

  test("is deleted with its workspace", async () => {
    await using t = await testHost(answers);
    const session = await t.host.startSession({ agent: agent(), environment: EMPTY });
    await session.send("One.").result();
    await t.host.delete(session.id);
    expect(await t.host.session(session.id)).toBeUndefined();
    expect(await t.host.workspaces.list()).toEqual([]);
  });

  test("starts in an empty workspace with files and repositories, of which the agent is told", async () => {
    await using t = await testHost(readsUploads);
    using files = temporaryDirectory();
    writeFileSync(join(files.path, "content"), "from a file\n");
    const given = { fileId: "file_1", path: join(files.path, "content") };
    const session = await t.host.startSession({
      agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } }),
      environment: EMPTY,
      files: [{ ...given, mountPath: "uploads/data.txt" }],
    });
    const added = await t.host.addFile(session.id, { ...given, mountPath: "later.txt" });
    expect((await t.host.session(session.id))?.resources).toMatchObject([
      { type: "file", mountPath: "uploads/data.txt" },
      { id: added.id, mountPath: "later.txt" },
    ]);
    await session.send("Read.").result();
    const [result] = ofType(await eventsOf(t.host, session.id), "agent.tool_result");
    expect(JSON.stringify(result?.content)).toContain("from a file\\nfrom a file\\nlater.txt\\nuploads");
    expect(JSON.stringify(t.model.requests[0]?.body.system)).toContain("- uploads/data.txt (file)");
    await expect(t.host.addFile(session.id, { ...given, mountPath: "later.txt" })).rejects.toMatchObject({
      code: "workspace_invalid",
    });
    await expect(t.host.addFile(session.id, { ...given, mountPath: "../out.txt" })).rejects.toMatchObject({
      code: "workspace_invalid",
    });
    await expect(t.host.files.apply(session.id)).rejects.toThrow(/started empty/);
  });
});

describe("what goes wrong when everything happens at once", () => {
  test("a session that nobody drives is changed, attended to and given files by several at the same time", async () => {
    await using t = await testHost(answers);
    using files = temporaryDirectory();
    writeFileSync(join(files.path, "content"), "x\n");
    const { id } = await t.host.startSession({ agent: agent(), environment: EMPTY });
    await (await t.host.attend(id)).send("One.").result();
    await t.host.suspend(0);
    await using next = await t.another();
    const add = (name: string) =>
      next.addFile(id, { fileId: "file_1", path: join(files.path, "content"), mountPath: name });
    await Promise.all([
      next.update(id, { metadata: { a: "1" } }),
      next.update(id, { metadata: { b: "2" } }),
      add("a.txt"),
      add("b.txt"),
      next.attend(id),
      next.update(id, { title: "New" }),
    ]);
    const session = await next.attend(id);
    expect(await session.send("Two.").result()).toMatchObject({ stopReason: { type: "end_turn" } });
    const record = await next.session(id);
    expect(record).toMatchObject({ title: "New", metadata: { a: "1", b: "2" } });
    expect(record?.resources.map(({ mountPath }) => mountPath).toSorted()).toEqual(["a.txt", "b.txt"]);
    expect(await next.verify(id)).toMatchObject({ ok: true });
  });

  test("one that is being closed can be attended to at once", async () => {
    await using t = await testHost(answers);
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
    const closing = session.close();
    const again = await t.host.attend(session.id);
    await closing;
    expect(await again.send("Two.").result()).toMatchObject({ stopReason: { type: "end_turn" } });
  });

  test("nobody goes on by themselves with a session that a program guards with hooks", async () => {
    await using t = await testHost(runs("touch evil.txt"));
    const given = { agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } }), cwd: t.cwd };
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const hold = async (): Promise<{ deny: string }> => {
      resolve();
      await new Promise(() => {});
      return denies();
    };
    const session = await t.host.startSession({ ...given, hooks: { beforeTool: hold } });
    void session.send("Work.");
    await asked;
    await t.host.suspend(0);
    await using next = await t.another();
    await expect(next.attend(session.id)).rejects.toMatchObject({ code: "unsupported" });
    expect(await next.recover("continue")).toMatchObject([{ error: expect.stringContaining("from that program") }]);
    const resumed = await next.resumeSession(session.id, { hooks: { beforeTool: denies }, onCrash: "stop" });
    await resumed.send("Work.").result();
    expect(existsSync(join(t.cwd, "evil.txt"))).toBe(false);
  });

  test("a turn that waits is ended when its session is archived, also when nobody drives it", async () => {
    await using t = await testHost(writesOut);
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
    await session.send("Work.").result();
    await t.host.suspend(0);
    await using next = await t.another();
    await next.archive(session.id);
    expect(await next.approvals.list({ status: "pending" })).toEqual([]);
    expect((await next.state(session.id)).stopReason).toEqual({ type: "end_turn" });
    expect(await next.abandoned()).toEqual([]);
  });

  test("turns that wait for the same directory keep no place from others, and none is lost", async () => {
    const { promise: answer, resolve: goOn } = Promise.withResolvers<void>();
    await using t = await testHost(
      (request) => ({ ...say("Hello."), ...(request.last.includes("Slow") && { delay: answer }) }),
      {
        capacity: { max_turns: 2 },
      },
    );
    using elsewhere = temporaryDirectory();
    const [one, two] = [
      await t.host.startSession({ agent: agent(), cwd: t.cwd }),
      await t.host.startSession({ agent: agent(), cwd: t.cwd }),
    ];
    const other = await t.host.startSession({ agent: agent(), cwd: elsewhere.path });
    const slow = one.send("Slow.").result();
    await until(
      () => t.host.load(),
      ({ turns }) => turns === 1,
    );
    const waits = two.send("Quick.").result();
    expect(await other.send("Quick.").result()).toMatchObject({ text: "Hello." });
    goOn();
    await Promise.all([slow, waits]);
    expect(t.host.load()).toMatchObject({ turns: 0, waitingTurns: 0 });
  });
});
