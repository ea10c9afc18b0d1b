import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openStore } from "../../../src/app/open-store.ts";
import { checkpointsIn } from "../../../src/core/session/checkpoint-list.ts";
import { conversationOf } from "../../../src/core/session/conversation.ts";
import type { StoredEvent } from "../../../src/core/events/events.ts";
import { FASTER } from "../cli.ts";
import { agent, temporaryDirectory, testEnvironment } from "../host.ts";
import { obedient, order, type Step } from "../obedient-model.ts";
import { scriptedModel } from "../scripted-model.ts";
import { treeOf } from "../tree.ts";
import { inLanes } from "./lanes.ts";
import { bundleProgram } from "./bundle.ts";
import type { RewindReport, RewindTask } from "./rewind-host.ts";

/** Longer than a sequence may take. */
const TEST_MS = 300_000;
const worker = agent({ tools: ["Write", "Bash"], permissions: { mode: "yolo" } });
const NAMES = ["a.txt", "b/c.txt", "b/d", "ignored.log", "link", "größe"];
const name = fc.constantFrom(...NAMES);
const line = fc.stringMatching(/^[a-z]{0,8}$/);

/** What may happen to a session's files. */
type Happening =
  | { readonly kind: "agent"; readonly steps: readonly Change[]; readonly cut: Cut | undefined }
  | { readonly kind: "person"; readonly change: Change }
  | {
      readonly kind: "rewind";
      readonly to: number;
      readonly conversation: boolean;
      readonly cut: Cut | undefined;
    };

/** The host is killed so many milliseconds after it has begun, or after the log says that it rewinds. */
interface Cut {
  readonly when: "begun" | "rewinding";
  readonly after: number;
}

interface Change {
  readonly how: "write" | "shell" | "delete" | "mode" | "link";
  readonly name: string;
  readonly text: string;
}

/** What a person works on: a rewind of the session leaves it alone. */
const THEIRS = ["mine.txt", "b/mine"];

const atAnyTime = fc.record({ when: fc.constant("begun" as const), after: fc.integer({ min: 0, max: 300 }) });
/** Soon enough that most are not over by then. */
const inTheMiddle = fc.record({ when: fc.constant("rewinding" as const), after: fc.integer({ min: 0, max: 40 }) });
const change: fc.Arbitrary<Change> = fc.record({
  how: fc.constantFrom("write", "shell", "shell", "delete", "mode", "link"),
  name,
  text: line,
});
const theirs: fc.Arbitrary<Change> = fc.record({
  how: fc.constantFrom("write", "delete", "mode"),
  name: fc.constantFrom(...THEIRS),
  text: line,
});
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("agent" as const),
      steps: fc.array(change, { minLength: 1, maxLength: 3 }),
      cut: fc.option(atAnyTime, { nil: undefined, freq: 1 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("person" as const), change: theirs }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("rewind" as const),
      to: fc.nat(100),
      conversation: fc.boolean(),
      cut: fc.option(fc.oneof(atAnyTime, inTheMiddle, inTheMiddle), { nil: undefined, freq: 2 }),
    }),
  },
);

interface Played {
  /** How often the files went back, … */
  readonly rewinds: number;
  /** … to a state in the middle of a turn, … */
  readonly midTurn: number;
  /** … and by whoever only resumed the session after a host had died in the rewind. */
  readonly finished: number;
}

/** Registers one test for each sequence. */
export function rewindCampaign({ seed, sequences, lanes }: { seed: number; sequences: number; lanes: number }): void {
  const all = fc.sample(fc.array(happening, { minLength: 4, maxLength: 8 }), { seed, numRuns: sequences });
  const played: Played[] = [];
  const play = inLanes(
    all.map((sequence) => async () => {
      played.push(await playSequence(sequence));
    }),
    lanes,
  );
  for (const index of all.keys()) test(`sequence ${index} of seed ${seed}`, () => play(index), TEST_MS);
  // A campaign that hardly ever goes back, or is never cut while it does, proves nothing.
  test("there were rewinds, some into a turn, and some that were finished after a crash", () => {
    const sum = { rewinds: 0, midTurn: 0, finished: 0 };
    for (const one of played) for (const key of ["rewinds", "midTurn", "finished"] as const) sum[key] += one[key];
    expect(sum.rewinds).toBeGreaterThan(sequences / 2);
    expect(sum.midTurn).toBeGreaterThan(0);
    expect(sum.finished).toBeGreaterThan(0);
  });
}

/** How things were when a checkpoint was taken. */
interface Moment {
  readonly files: ReturnType<typeof treeOf>;
  /** The places in the log of the user's messages that the conversation had, where the checkpoint says it stood. */
  readonly said: readonly number[];
  readonly isMidTurn: boolean;
}

async function playSequence(sequence: readonly Happening[]): Promise<Played> {
  let [rewinds, midTurn, finished] = [0, 0, 0];
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const model = stack.use(await scriptedModel(obedient));
  const home = join(directory.path, "home");
  const cwd = join(directory.path, "workspace");
  const snapshots = new Snapshots(cwd, join(directory.path, "snapshots"));
  mkdirSync(cwd);
  writeFileSync(join(cwd, ".gitignore"), "*.log\n");
  const given = { home, cwd, environment: testEnvironment(model.url), agent: worker };
  const known = new Map<string, Moment>();
  let said: readonly number[] = [];
  let sessionId: string | undefined;

  for (const one of sequence) {
    if (one.kind === "person") {
      byPerson(cwd, one.change);
      continue;
    }
    const before = treeOf(cwd);
    const head = (await eventsOf(home, sessionId)).length;
    if (one.kind === "agent") {
      const message = order(...one.steps.map((step) => byAgent(cwd, step, snapshots)));
      const ran = await runHost({ ...given, sessionId, head, work: { message } }, one.cut);
      sessionId ??= ran.sessionId;
      // Before a person works on: what changes until the session is taken up again could be of the call that was cut.
      if (!ran.done && sessionId !== undefined)
        await runHost({ ...given, sessionId, head, work: undefined }, undefined);
      const events = await eventsOf(home, sessionId);
      const sent = messagesIn(events.slice(head));
      said = [...said, ...sent];
      const taken = checkpointsIn(events).filter(({ seq }) => seq > head);
      for (const checkpoint of taken) {
        const { id, reason, calls, conversation } = checkpoint;
        // The end of a turn is known when the host was not killed before it.
        const isEnd = (reason === "turn_end" || reason === "call_end") && checkpoint === taken.at(-1) && ran.done;
        const isFirst = reason === "call" && calls.length === 0;
        // In between, the files are as the next command found them.
        const files = isEnd ? treeOf(cwd) : isFirst ? before : snapshots.find(nextCommand(events, checkpoint.seq));
        if (files === undefined) continue;
        const then = said.filter((seq) => seq <= conversation);
        // What was said in a turn is part of the conversation at its end, and not before.
        expect(sent.filter((seq) => then.includes(seq))).toEqual(isEnd ? sent : []);
        known.set(id, { files, said: then, isMidTurn: !isEnd && !isFirst });
      }
      continue;
    }
    const [target, moment] = [...known][one.to % Math.max(1, known.size)] ?? [];
    if (target === undefined || moment === undefined) continue;
    const task = { ...given, sessionId, head, work: { to: target, conversation: one.conversation } };
    const ran = await runHost(task, one.cut);
    const left = ran.done ? "done" : rewindIn((await eventsOf(home, sessionId)).slice(head));
    if (left === "none") await runHost(task, undefined);
    // Whoever resumes the session finishes it, and is not asked to.
    if (left === "begun") await runHost({ ...task, work: undefined }, undefined);
    if (one.conversation) ({ said } = moment);
    expect(without(treeOf(cwd), THEIRS)).toEqual(without(moment.files, THEIRS));
    expect(only(treeOf(cwd), THEIRS)).toEqual(only(before, THEIRS));
    expect(messagesIn(conversationOf(await eventsOf(home, sessionId)))).toEqual(said);
    rewinds += 1;
    midTurn += moment.isMidTurn ? 1 : 0;
    finished += left === "begun" ? 1 : 0;
  }
  return { rewinds, midTurn, finished };
}

/** Of the call that was let through next. */
function nextCommand(events: readonly StoredEvent[], after: number): string | undefined {
  for (const { seq, event } of events) {
    if (seq <= after || event.type !== "capstan.permission_decided") continue;
    const call = events.find((one) => one.event.type === "agent.tool_use" && one.event.call_id === event.call_id);
    const command = call?.event.type === "agent.tool_use" ? call.event.input["command"] : undefined;
    return typeof command === "string" ? command : undefined;
  }
  return undefined;
}

function only(files: Moment["files"], names: readonly string[]): Moment["files"] {
  return Object.fromEntries(Object.entries(files).filter(([path]) => names.includes(path)));
}

function without(files: Moment["files"], names: readonly string[]): Moment["files"] {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !names.includes(path)));
}

async function eventsOf(home: string, sessionId: string | undefined): Promise<readonly StoredEvent[]> {
  if (sessionId === undefined) return [];
  await using store = await openStore(home, {});
  return await store.events(sessionId);
}

function messagesIn(events: readonly StoredEvent[]): readonly number[] {
  return events.flatMap(({ seq, event }) => (event.type === "user.message" ? [seq] : []));
}

/** What a host that was killed has left of its rewind. */
function rewindIn(events: readonly StoredEvent[]): "none" | "begun" | "done" {
  if (events.some(({ event }) => event.type === "capstan.rewound")) return "done";
  return events.some(({ event }) => event.type === "capstan.rewind_started") ? "begun" : "none";
}

/** Copies of the workspace that commands of the agent make before they do anything: the files as they were before a call. */
class Snapshots {
  readonly #cwd: string;
  readonly #root: string;
  #made = 0;

  constructor(cwd: string, root: string) {
    this.#cwd = cwd;
    this.#root = root;
    mkdirSync(root);
  }

  /** Its name comes first. Half a copy has another one. */
  before(command: string): string {
    const name = `s${(this.#made += 1)}`;
    const path = join(this.#root, name);
    return `: ${name}; cp -a '${this.#cwd}' '${path}.part' && mv '${path}.part' '${path}'; ${command}`;
  }

  find(command = ""): Moment["files"] | undefined {
    const [, name] = /^: (s\d+);/.exec(command) ?? [];
    const path = name === undefined ? undefined : join(this.#root, name);
    return path !== undefined && existsSync(path) ? treeOf(path) : undefined;
  }
}

async function runHost(
  task: RewindTask,
  cut: Cut | undefined,
): Promise<{ readonly done: boolean; readonly sessionId: string | undefined }> {
  const child = fork(await bundleProgram("rewind-host.ts"), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, ...FASTER },
  });
  let { sessionId } = task;
  let done = false;
  const begun = Promise.withResolvers<void>();
  child.on("message", (report: RewindReport) => {
    if ("started" in report) sessionId = report.started;
    if ("done" in report) done = true;
    if (cut?.when !== "rewinding" || !("started" in report)) begun.resolve();
  });
  child.on("exit", () => begun.resolve());
  child.send(task);
  if (cut !== undefined) {
    await begun.promise;
    await sleep(cut.after);
    kill(child);
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  if (cut === undefined) expect(done, "the host did its work").toBe(true);
  return { done, sessionId };
}

function kill(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
}

function byAgent(cwd: string, { how, name: file, text }: Change, snapshots: Snapshots): Step {
  const path = join(cwd, file);
  // The tool refuses to write over a file that the agent has not read, which makes it a call that changes nothing.
  if (how === "write") return ["Write", { file_path: path, content: text }];
  const command = {
    shell: `mkdir -p "$(dirname '${path}')"; rm -rf '${path}'; printf '%s\\n' '${text}' > '${path}'`,
    delete: `rm -rf '${path}'`,
    mode: `test -f '${path}' && ! test -L '${path}' && chmod ${text.length % 2 === 0 ? "600" : "755"} '${path}' || true`,
    link: `mkdir -p "$(dirname '${path}')"; rm -rf '${path}'; ln -s '${text || "nowhere"}' '${path}'`,
  }[how];
  return ["Bash", { command: snapshots.before(command) }];
}

function byPerson(cwd: string, { how, name: file, text }: Change): void {
  const path = join(cwd, file);
  mkdirSync(join(path, ".."), { recursive: true });
  if (how === "mode") {
    if (file in treeOf(cwd) && !treeOf(cwd)[file]?.startsWith("->"))
      chmodSync(path, text.length % 2 === 0 ? 0o640 : 0o711);
    return;
  }
  rmSync(path, { recursive: true, force: true });
  if (how === "link") symlinkSync(text || "nowhere", path);
  else if (how !== "delete") writeFileSync(path, `${text}\n`);
}
