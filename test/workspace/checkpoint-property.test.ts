import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { type ShadowWorkspace, shadowWorkspace, treeOf, userGit } from "./shadow-workspace.ts";

/**
 * Random histories of a workspace, with hosts that are killed on the way: whatever was kept comes back as it was.
 * The tree is read by the test itself, so that nothing of what is tested judges it.
 */
const RUNS = 60;
/** Git is waited for most of the time, so that several histories run side by side. */
const LANES = 4;
/** Far more than it takes, because the machine may be busy with other tests. */
const TIMEOUT_MS = 240_000;

const NAMES = ["a", "b", "dir", "dir/c", "dir/sub/d", "ignored/x", "repo/e", "repo/inner/f", 'odd\n"n\tame', "-dash"];
const BYTES = [...NAMES.map((name) => Buffer.from(name)), Buffer.from([0xff, 0xfe, 0x20]), Buffer.from("é/ü")];
/** Some have the same length, so that only a close look tells them apart. */
const CONTENTS = ["", "1\n", "2\n", "a\r\nb\n", "$Id$\n", "\0\u0001"];
const MODES = [0o644, 0o755, 0o600, 0o444, 0o711, 0o2755];

const name = fc.constantFrom(...BYTES);
const killAfter = fc.integer({ min: 0, max: 80 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("write"), name, content: fc.constantFrom(...CONTENTS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove"), name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("chmod"), name, mode: fc.constantFrom(...MODES) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("link"), name, target: fc.constantFrom("a", "dir", "/x", "..") }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rename"), name, to: name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("repository"), commits: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("rules") }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("checkpoint") }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("restore"), which: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reopen") }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("rubble"), kind: fc.constantFrom("locks", "half", "zeros", "gone") }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("killed checkpoint"), killAfter }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("killed restore"), which: fc.nat(9), killAfter }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe.concurrent("whatever happens, a checkpoint comes back as it was", () => {
  test.for(Array.from({ length: LANES }, (_, lane) => lane))("histories %i", { timeout: TIMEOUT_MS }, async (lane) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
        using place = shadowWorkspace();
        await new History(place).play(steps);
      }),
      { numRuns: RUNS / LANES, seed: 20_261_115 + lane, endOnFailure: true },
    );
  });
});

class History {
  readonly #place: ShadowWorkspace;
  #workspace;
  readonly #kept: { commit: string; tree: Map<string, string> }[] = [];
  #last: string | undefined;

  constructor(place: ShadowWorkspace) {
    this.#place = place;
    this.#workspace = place.open();
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const step of [...steps, { do: "checkpoint" }, { do: "restore", which: 0 }] as Step[]) await this.#do(step);
  }

  async #do(step: Step): Promise<void> {
    switch (step.do) {
      case "checkpoint":
        return this.#checkpoint();
      case "restore":
        return this.#restore("which" in step ? step.which : 0);
      case "reopen":
        this.#workspace = this.#place.open();
        return;
      case "rubble":
        return leaveRubble(this.#place.repository, "kind" in step ? step.kind : "");
      case "killed checkpoint":
        await this.#place.runKilled("checkpoint", [this.#last], "killAfter" in step ? step.killAfter : 0);
        this.#workspace = this.#place.open();
        return;
      case "killed restore": {
        const target = this.#kept.at(("which" in step ? step.which : 0) % Math.max(1, this.#kept.length));
        if (target === undefined) return;
        await this.#checkpoint();
        await this.#place.runKilled("restore", [target.commit, this.#last], "killAfter" in step ? step.killAfter : 0);
        this.#workspace = this.#place.open();
        return this.#restoreTo(target);
      }
      default:
        change(this.#place.cwd, step);
    }
  }

  async #checkpoint(): Promise<void> {
    const tree = treeOf(this.#place.cwd);
    const taken = await this.#workspace.checkpoint(this.#last);
    if (taken === undefined) {
      const before = this.#kept.find(({ commit }) => commit === this.#last);
      expect(before?.tree, "nothing has changed").toEqual(tree);
      return;
    }
    this.#last = taken.commit;
    this.#kept.push({ commit: taken.commit, tree });
  }

  async #restore(which: number): Promise<void> {
    const target = this.#kept.at(which % Math.max(1, this.#kept.length));
    if (target !== undefined) await this.#restoreTo(target);
  }

  async #restoreTo(target: { commit: string; tree: Map<string, string> }): Promise<void> {
    await this.#checkpoint();
    await this.#workspace.restore(target.commit, this.#last ?? "");
    expect(treeOf(this.#place.cwd)).toEqual(target.tree);
    this.#last = target.commit;
    expect(await this.#workspace.checkpoint(target.commit), "restored").toBeUndefined();
  }
}

function change(cwd: string, step: Step): void {
  const at = (name: Buffer): Buffer => Buffer.concat([Buffer.from(`${cwd}/`), name]);
  if (step.do === "repository") return makeRepository(cwd, "commits" in step && step.commits);
  if (step.do === "rules") {
    const rules = "* text=auto eol=crlf ident filter=none working-tree-encoding=UTF-16\n";
    writeFileSync(join(cwd, ".gitattributes"), rules);
    writeFileSync(join(cwd, ".gitignore"), "ignored/\n*\n");
    return;
  }
  if (!("name" in step)) throw new Error(`There is no ${step.do}.`);
  const place = at(step.name);
  if (step.do === "write" && "content" in step) {
    makeWay(cwd, place);
    writeFileSync(place, step.content);
  } else if (step.do === "link" && "target" in step) {
    makeWay(cwd, place);
    symlinkSync(step.target, place);
  } else if (step.do === "chmod" && "mode" in step) {
    if (isPlain(cwd, place) && lstatSync(place).isFile()) chmodSync(place, step.mode);
  } else if (step.do === "remove") {
    if (isPlain(cwd, place)) rmSync(place, { recursive: true, force: true });
  } else if (step.do === "rename" && "to" in step) rename(cwd, place, at(step.to));
}

function rename(cwd: string, from: Buffer, to: Buffer): void {
  const inside = to.includes(from) || from.includes(to);
  if (inside || !isPlain(cwd, from) || !existsSync(from)) return;
  makeWay(cwd, to);
  if (existsSync(from)) renameSync(from, to);
}

/** Nothing is there, and what leads there are directories. */
function makeWay(cwd: string, place: Buffer): void {
  for (const parent of parents(cwd, place)) {
    const stats = lstatSync(parent, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isDirectory()) rmSync(parent);
    if (stats?.isDirectory() !== true) mkdirSync(parent);
  }
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) rmSync(place, { recursive: true });
  else if (stats !== undefined) rmSync(place);
}

function parents(cwd: string, place: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = place.indexOf("/", cwd.length + 1); at > 0; at = place.indexOf("/", at + 1))
    found.push(place.subarray(0, at));
  return found;
}

/** There, and not behind a link. */
function isPlain(cwd: string, place: Buffer): boolean {
  return (
    parents(cwd, place).every((parent) => lstatSync(parent, { throwIfNoEntry: false })?.isDirectory() === true) &&
    lstatSync(place, { throwIfNoEntry: false }) !== undefined
  );
}

const templates = shadowWorkspace();
afterAll(() => templates[Symbol.dispose]());

function makeRepository(cwd: string, commits: boolean): void {
  const template = join(templates.root, commits ? "with" : "without");
  if (!existsSync(template)) {
    mkdirSync(template);
    userGit(template, "init", "--quiet", "--template=");
    if (commits) userGit(template, "commit", "--quiet", "--allow-empty", "-m", "first");
  }
  for (const repository of [join(cwd, "repo"), join(cwd, "repo", "inner")]) {
    const stats = lstatSync(repository, { throwIfNoEntry: false });
    if (stats?.isDirectory() === false) rmSync(repository);
    cpSync(join(template, ".git"), join(repository, ".git"), { recursive: true, force: true });
  }
}

/** What a host that was killed may leave, and worse. */
function leaveRubble(repository: string, kind: string): void {
  if (!existsSync(join(repository, "index"))) return;
  if (kind === "gone") rmSync(join(repository, "index"));
  if (kind === "zeros") writeFileSync(join(repository, "index"), Buffer.alloc(4_000));
  if (kind === "half") {
    rmSync(join(repository, "index"));
    writeFileSync(join(repository, "index"), "DIRC\0\0\0\u0002\0\0\0\u0009half");
  }
  if (kind !== "locks") return;
  for (const lock of ["index", "HEAD", "packed-refs", "refs/capstan/checkpoints", "index-dead"])
    writeFileSync(join(repository, `${lock}.lock`), "");
}
