import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/app/open-store.ts";
import { thisProcess } from "../../src/app/host/processes.ts";
import type { Checkpoint } from "../../src/core/session/checkpoint-list.ts";
import { example } from "../support/event-examples.ts";
import { agent, eventsOf, ofType, type TestHost, testHost } from "../support/host.ts";
import { obedient, order } from "../support/obedient-model.ts";
import { call, say, toolUse } from "../support/scripted-model.ts";

const worker = agent({ tools: ["Read", "Write", "Edit", "Bash"], permissions: { mode: "yolo" } });

/** Writes down that a rewind begins, as a host does before it touches the files. */
async function beginRewind(
  home: string,
  sessionId: string,
  to: Checkpoint | undefined,
  undo: Checkpoint | undefined,
): Promise<void> {
  await using store = await openStore(home, {});
  const lease = await store.leases.acquire(sessionId, thisProcess("host_cut"), 60_000);
  const event = example("capstan.rewind_started", {
    checkpoint_id: to?.id ?? "",
    commit: to?.commit ?? "",
    undo_checkpoint_id: undo?.id ?? "",
    undo_commit: undo?.commit ?? "",
  });
  const { to_seq: _kept, ...files } = event;
  await store.append(sessionId, { after: await store.head(sessionId), events: [files], fence: lease.fence });
  await store.leases.release(lease);
}

test("what a turn changed is known, call by call, and can be undone and done again", async () => {
  await using t = await testHost(obedient);
  const at = (name: string): string => join(t.cwd, name);
  writeFileSync(at("kept.txt"), "as it was\n");
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session
    .send(
      order(
        ["Write", { file_path: at("new.txt"), content: "one\n" }],
        ["Bash", { command: "echo two >> kept.txt; mkdir d; echo x > d/y" }],
      ),
    )
    .result();

  const { files, steps } = await t.host.files.diff(session.id, { byCall: true });
  expect(files).toEqual([
    { path: "d/y", kind: "added", insertions: 1, deletions: 0 },
    { path: "kept.txt", kind: "modified", insertions: 1, deletions: 0 },
    { path: "new.txt", kind: "added", insertions: 1, deletions: 0 },
  ]);
  expect(
    steps.map(({ calls, files: changed }) => [calls.map(({ tool }) => tool), changed.map(({ path }) => path)]),
  ).toEqual([
    [["Write"], ["new.txt"]],
    [["Bash"], ["d/y", "kept.txt"]],
  ]);
  const taken = await t.host.files.checkpoints(session.id);
  expect(taken.map(({ reason, turn }) => [reason, turn])).toEqual([
    ["call", 1],
    ["call_end", 1],
    ["call_end", 1],
  ]);

  const dry = await t.host.files.rewind(session.id, { to: "start", dryRun: true });
  expect(dry.files.map(({ path, kind }) => [path, kind])).toEqual([
    ["d/y", "deleted"],
    ["kept.txt", "modified"],
    ["new.txt", "deleted"],
  ]);
  expect(existsSync(at("new.txt"))).toBe(true);

  await t.host.files.rewind(session.id, { to: "start" });
  expect(existsSync(at("new.txt"))).toBe(false);
  expect(existsSync(at("d"))).toBe(false);
  expect(readFileSync(at("kept.txt"), "utf8")).toBe("as it was\n");
  expect((await t.host.files.diff(session.id)).files).toEqual([]);

  await t.host.files.undoRewind(session.id);
  expect(readFileSync(at("kept.txt"), "utf8")).toBe("as it was\ntwo\n");
  expect(readFileSync(at("d/y"), "utf8")).toBe("x\n");
});

test("what a person changed in a session's own workspace between two turns is told as nobody's", async () => {
  await using t = await testHost(obedient);
  const environment = { workspace: { kind: "copy" as const, mounts: [] } };
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd, environment });
  await session.send(order(["Bash", { command: "echo 1 > a" }])).result();
  writeFileSync(join(session.record.cwd, "mine.txt"), "a person's\n");
  await session.send(order(["Bash", { command: "echo 2 > b" }])).result();
  const { steps } = await t.host.files.diff(session.id, { byCall: true });
  expect(steps.map(({ calls, files }) => [calls.length, files.map(({ path }) => path)])).toEqual([
    [1, ["a"]],
    [0, ["mine.txt"]],
    [1, ["b"]],
  ]);
  const turn = await t.host.files.diff(session.id, { from: "turn" });
  expect(turn.files.map(({ path }) => path)).toEqual(["b"]);
});

/** Makes a file, and ends when the other one is made too. */
function waitingFor(own: string, other: string): string {
  return `echo 1 > ${own}; until [ -e ${other} ]; do sleep 0.05; done`;
}

test("what subagents changed while they worked side by side is told as that of the group", async () => {
  await using t = await testHost(({ agent: who, toolResults, last }) => {
    if (who === "main")
      return toolResults.length > 0
        ? say("done")
        : {
            blocks: ["left", "right"].map((name) =>
              toolUse("Agent", { description: name, subagent_type: "hand", prompt: `Make ${name}.` }),
            ),
          };
    const isLeft = last.includes("Make left.");
    return toolResults.length > 0
      ? say("made")
      : call("Bash", { command: isLeft ? waitingFor("left", "right") : waitingFor("right", "left") });
  });
  const crew = {
    ...worker,
    subagents: { hand: { description: "makes things", instructions: "Make.", tools: ["Bash"] } },
  };
  const session = await t.host.startSession({ agent: crew, cwd: t.cwd });
  await session.send("Make both.").result();
  const { steps } = await t.host.files.diff(session.id, { byCall: true });
  const groups = steps.filter(({ files }) => files.some(({ path }) => path === "left" || path === "right"));
  expect(groups.map(({ calls }) => calls.map(({ tool }) => tool))).toEqual([["Bash", "Bash"]]);
});

test("a turn that only reads takes no checkpoint, and one that changes nothing takes no second one", async () => {
  await using t = await testHost(obedient);
  writeFileSync(join(t.cwd, "a"), "1");
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session.send(order(["Read", { file_path: join(t.cwd, "a") }])).result();
  expect(ofType(await eventsOf(t.host, session.id), "capstan.checkpoint_taken")).toEqual([]);
  await session.send(order(["Bash", { command: "true" }], ["Bash", { command: "true" }])).result();
  expect(ofType(await eventsOf(t.host, session.id), "capstan.checkpoint_taken")).toHaveLength(1);
});

test("the model is told that files went back, and forgets what was said when the conversation goes back", async () => {
  await using t = await testHost(obedient);
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session.send(order(["Bash", { command: "echo 1 > a" }])).result();
  await session.send("Remember the word walrus.").result();
  await session.setModel("claude-haiku-4-5");
  await session.send(order(["Bash", { command: "echo 2 > a" }])).result();

  await t.host.files.rewind(session.id, { to: "turn" });
  expect(readFileSync(join(t.cwd, "a"), "utf8")).toBe("1\n");
  await session.send("What now?").result();
  expect(t.model.requests.at(-1)?.transcript).toMatch(/walrus[^]*What now\?[^]*brought back to an earlier state/);

  await t.host.files.rewind(session.id, { to: "start", conversation: true });
  expect(existsSync(join(t.cwd, "a"))).toBe(false);
  // What was set meanwhile holds on, in a fork as well.
  await using fork = await t.host.forkSession(session.id);
  expect([session.state.model, fork.state.model]).toEqual(["claude-haiku-4-5", "claude-haiku-4-5"]);
  await session.send("Anything left?").result();
  const fresh = t.model.requests.at(-1)?.transcript ?? "";
  expect(fresh).toContain("Anything left?");
  expect(fresh).not.toMatch(/walrus|What now|Do exactly/);

  await t.host.files.undoRewind(session.id);
  await session.send("And again?").result();
  const again = t.model.requests.at(-1)?.transcript ?? "";
  expect(again).toMatch(/walrus[^]*What now\?[^]*And again\?/);
  expect(again).not.toContain("Anything left?");
});

/** As a host leaves a session that died in a rewind from 2 to 1: the intent is in the log, and no file is back yet. */
async function cutRewind(t: TestHost): Promise<string> {
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session.send(order(["Bash", { command: "echo 1 > a; echo 1 > b" }])).result();
  await session.send(order(["Bash", { command: "echo 2 > a; echo 2 > b" }])).result();
  const [, one, two] = await t.host.files.checkpoints(session.id);
  await session.close();
  await beginRewind(t.home, session.id, one, two);
  return session.id;
}

test("a rewind that a crash cut off is finished when the session is taken up again", async () => {
  await using t = await testHost(obedient);
  const id = await cutRewind(t);
  // Half of the files are back.
  writeFileSync(join(t.cwd, "a"), "1\n");

  const resumed = await t.host.resumeSession(id);
  expect(readFileSync(join(t.cwd, "b"), "utf8")).toBe("1\n");
  expect(ofType(await eventsOf(t.host, id), "capstan.rewound")).toHaveLength(1);
  expect((await resumed.send("Go on.").result()).text).toBe("ok");
});

test("a rewind that was cut off is given up when somebody has changed files since, and can be taken back", async () => {
  await using t = await testHost(obedient);
  const id = await cutRewind(t);
  writeFileSync(join(t.cwd, "b"), "mine\n");

  await t.host.resumeSession(id);
  expect(readFileSync(join(t.cwd, "b"), "utf8")).toBe("mine\n");
  expect(readFileSync(join(t.cwd, "a"), "utf8")).toBe("2\n");
  const [failed] = ofType(await eventsOf(t.host, id), "capstan.rewind_failed");
  expect(failed?.reason).toContain("b");
  await expect(t.host.files.undoRewind(id)).rejects.toMatchObject({ data: { paths: ["b"] } });
  await t.host.files.undoRewind(id, { overwrite: true });
  expect(readFileSync(join(t.cwd, "b"), "utf8")).toBe("2\n");
});

test("a rewind that was cut off leaves alone what somebody has changed elsewhere since", async () => {
  await using t = await testHost(obedient);
  const id = await cutRewind(t);
  writeFileSync(join(t.cwd, "mine"), "mine\n");

  await t.host.resumeSession(id);
  expect(["a", "b", "mine"].map((name) => readFileSync(join(t.cwd, name), "utf8"))).toEqual(["1\n", "1\n", "mine\n"]);
});

test("without a checkpoint the work goes on and says so, unless checkpoints are required", async () => {
  await using t = await testHost(obedient, {});
  // A file where the shadow repository must be: it cannot be made.
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  mkdirSync(join(t.home, "workspaces", session.id), { recursive: true });
  writeFileSync(join(t.home, "workspaces", session.id, "checkpoints.git"), "in the way");
  await session.send(order(["Bash", { command: "echo 1 > a" }], ["Bash", { command: "echo 2 > b" }])).result();
  expect(existsSync(join(t.cwd, "b"))).toBe(true);
  const told = ofType(await eventsOf(t.host, session.id), "capstan.checkpoint_failed");
  expect(told.map(({ reason }) => reason)).toEqual([expect.stringContaining("checkpoints.git")]);
  await session.close();

  const strict = await t.host.startSession({
    agent: worker,
    cwd: t.cwd,
    environment: { checkpoints: { mode: "required" } },
  });
  mkdirSync(join(t.home, "workspaces", strict.id), { recursive: true });
  writeFileSync(join(t.home, "workspaces", strict.id, "checkpoints.git"), "in the way");
  await strict.send(order(["Bash", { command: "echo 3 > c" }])).result();
  expect(existsSync(join(t.cwd, "c"))).toBe(false);
  const [denied] = ofType(await eventsOf(t.host, strict.id), "capstan.permission_decided");
  expect(denied).toMatchObject({ decision: "deny", decided_by: "checkpoint" });
});
