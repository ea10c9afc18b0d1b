import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openFiles, type OpenFiles } from "../../../src/app/open-files.ts";
import type { Checkpoint } from "../../../src/core/checkpoint-list.ts";
import { agent, temporaryDirectory, testEnvironment } from "../host.ts";
import { obedient, order, type Step } from "../obedient.ts";
import { scriptedModel } from "../scripted-model.ts";
import { treeOf } from "../tree.ts";
import { inLanes } from "./lanes.ts";
import type { RewindReport, RewindTask } from "./rewind-host.ts";

/** Longer than a sequence may take. */
const TEST_MS = 300_000;
const worker = agent({ tools: ["Write", "Bash"], permissions: { mode: "yolo" } });
const NAMES = ["a.txt", "b/c.txt", "b/d", "ignored.log", "link", "größe"];
const name = fc.constantFrom(...NAMES);
const line = fc.stringMatching(/^[a-z]{0,8}$/);

/** What may happen to a session's files. */
type Happening =
  | { readonly kind: "agent"; readonly steps: readonly Change[]; readonly killAfter: number | undefined }
  | { readonly kind: "person"; readonly change: Change }
  | {
      readonly kind: "rewind";
      readonly to: number;
      readonly conversation: boolean;
      readonly killAfter: number | undefined;
    };

interface Change {
  readonly how: "write" | "shell" | "delete" | "mode" | "link";
  readonly name: string;
  readonly text: string;
}

/** Most live; others are killed so many milliseconds after they have begun. */
const killAfter = fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined, freq: 1 });
const change: fc.Arbitrary<Change> = fc.record({
  how: fc.constantFrom("write", "shell", "shell", "delete", "mode", "link"),
  name,
  text: line,
});
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("agent" as const),
      steps: fc.array(change, { minLength: 1, maxLength: 3 }),
      killAfter,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("person" as const), change }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("rewind" as const),
      to: fc.nat(100),
      conversation: fc.boolean(),
      killAfter,
    }),
  },
);

/** Registers one test for each sequence. */
export function rewindCampaign({ seed, sequences, lanes }: { seed: number; sequences: number; lanes: number }): void {
  const all = fc.sample(fc.array(happening, { minLength: 4, maxLength: 8 }), { seed, numRuns: sequences });
  let rewinds = 0;
  const play = inLanes(
    all.map((sequence) => async () => {
      rewinds += await playSequence(sequence);
    }),
    lanes,
  );
  for (const index of all.keys()) test(`sequence ${index} of seed ${seed}`, () => play(index), TEST_MS);
  // A campaign that hardly ever goes back proves nothing.
  test("there were rewinds", () => expect(rewinds).toBeGreaterThan(sequences / 2));
}

/** Gives how often the files went back. */
async function playSequence(sequence: readonly Happening[]): Promise<number> {
  let rewinds = 0;
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const model = stack.use(await scriptedModel(obedient));
  const home = join(directory.path, "home");
  const cwd = join(directory.path, "workspace");
  mkdirSync(cwd);
  writeFileSync(join(cwd, ".gitignore"), "*.log\n");
  const given = { home, cwd, environment: testEnvironment(model.url), agent: worker };
  /** Checkpoint → the files as they were when it was taken. */
  const known = new Map<string, ReturnType<typeof treeOf>>();
  let sessionId: string | undefined;

  for (const one of sequence) {
    if (one.kind === "person") {
      byPerson(cwd, one.change);
      continue;
    }
    const before = treeOf(cwd);
    const old = (await checkpoints(home, sessionId)).length;
    if (one.kind === "agent") {
      const message = order(...one.steps.map((step) => byAgent(cwd, step)));
      const ran = await runHost({ ...given, sessionId, work: { message } }, one.killAfter);
      sessionId ??= ran.sessionId;
      const taken = (await checkpoints(home, sessionId)).slice(old);
      // Taken before any call of the agent has run, …
      const first = taken.find(({ reason, calls }) => reason === "call" && calls.length === 0);
      if (first !== undefined) known.set(first.id, before);
      // … and after the last one.
      const last = taken.at(-1);
      if (ran.done && last?.reason === "turn_end") known.set(last.id, treeOf(cwd));
      continue;
    }
    const [target, files] = [...known][one.to % Math.max(1, known.size)] ?? [];
    if (target === undefined || files === undefined) continue;
    const work = { to: target, conversation: one.conversation };
    const ran = await runHost({ ...given, sessionId, work }, one.killAfter);
    // One that was killed is finished by whoever comes next, or was never begun: then it is done now.
    if (!ran.done) await runHost({ ...given, sessionId, work }, undefined);
    expect(treeOf(cwd)).toEqual(files);
    rewinds += 1;
  }
  return rewinds;
}

async function checkpoints(home: string, sessionId: string | undefined): Promise<readonly Checkpoint[]> {
  if (sessionId === undefined) return [];
  await using opened: OpenFiles = await openFiles(home, {});
  return await opened.files.checkpoints(sessionId);
}

async function runHost(
  task: RewindTask,
  after: number | undefined,
): Promise<{ readonly done: boolean; readonly sessionId: string | undefined }> {
  const child = fork(new URL("rewind-host.ts", import.meta.url), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  let { sessionId } = task;
  let done = false;
  const begun = Promise.withResolvers<void>();
  child.on("message", (report: RewindReport) => {
    if ("started" in report) sessionId = report.started;
    else done = true;
    begun.resolve();
  });
  child.on("exit", () => begun.resolve());
  child.send(task);
  if (after !== undefined) {
    await begun.promise;
    await sleep(after);
    kill(child);
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  if (after === undefined) expect(done, "the host did its work").toBe(true);
  return { done, sessionId };
}

function kill(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
}

function byAgent(cwd: string, { how, name: file, text }: Change): Step {
  const path = join(cwd, file);
  // The tool refuses to write over a file that the agent has not read, which makes it a call that changes nothing.
  if (how === "write") return ["Write", { file_path: path, content: text }];
  const command = {
    shell: `mkdir -p "$(dirname '${path}')"; rm -rf '${path}'; printf '%s\\n' '${text}' > '${path}'`,
    delete: `rm -rf '${path}'`,
    mode: `test -f '${path}' && ! test -L '${path}' && chmod ${text.length % 2 === 0 ? "600" : "755"} '${path}' || true`,
    link: `mkdir -p "$(dirname '${path}')"; rm -rf '${path}'; ln -s '${text || "nowhere"}' '${path}'`,
  }[how];
  return ["Bash", { command }];
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
