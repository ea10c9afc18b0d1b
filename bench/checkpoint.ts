import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { parseEnvironment } from "../src/core/environment/environment.ts";
import { openShadow } from "../src/workspace/shadow/shadow.ts";
import { temporaryDirectory } from "../test/support/host.ts";
import { interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";

const name = "checkpoint";
const DIRECTORIES = 200;
const FILES_EACH = 100;
const ROUNDS = 40;

/** A checkpoint of a large tree, compared with git itself on an identical tree. */
export const checkpointCost: BenchCase = {
  name,
  async run() {
    using directory = temporaryDirectory();
    const [ours, twin] = [join(directory.path, "ours"), join(directory.path, "twin")];
    makeTree(ours);
    cpSync(ours, twin, { recursive: true });
    const { checkpoints: settings } = parseEnvironment({});
    const place = { sessionId: "s", kind: "copy", cwd: ours, source: ours } as const;
    const workspace = openShadow(place, { directory: join(directory.path, "s"), settings });
    await git(twin, "init", "--quiet");
    await git(twin, "add", "-A");
    await git(twin, "-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "-m", "all");
    let last = (await workspace.checkpoint(undefined))?.commit;
    // Git and Capstan both read files again that are as old as the index.
    await sleep(2_500);
    await git(twin, "status");
    const checkpoint = timeWork(async () => {
      last = (await workspace.checkpoint(last))?.commit ?? last;
    });
    const changed = await interleave(
      { rounds: ROUNDS, warmUp: 3 },
      {
        checkpoint: (round) => {
          change(ours, round);
          return checkpoint();
        },
        add: (round) => {
          change(twin, round);
          return timeWork(async () => {
            await git(twin, "add", "-A");
            await git(twin, "write-tree");
          })();
        },
      },
    );
    await sleep(2_500);
    await checkpoint();
    await git(twin, "status");
    const unchanged = await interleave(
      { rounds: ROUNDS, warmUp: 3 },
      { checkpoint, status: timeWork(() => git(twin, "status")) },
    );
    const files = DIRECTORIES * FILES_EACH;
    return [
      ratioRow(
        {
          name,
          what: `one file of ${files} changed : git add -A && git write-tree`,
          measured: changed.checkpoint,
          against: changed.add,
        },
        1.5,
      ),
      ratioRow(
        {
          name,
          what: `nothing of ${files} files changed : git status`,
          measured: unchanged.checkpoint,
          against: unchanged.status,
        },
        1.1,
      ),
    ];
  },
};

function makeTree(root: string): void {
  for (let directory = 0; directory < DIRECTORIES; directory += 1) {
    const path = join(root, `part-${directory % 20}`, `sub-${directory}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < FILES_EACH; file += 1)
      writeFileSync(join(path, `file-${file}.txt`), `${directory} ${file}\n`);
  }
}

function change(root: string, round: number): void {
  const directory = (round + DIRECTORIES) % DIRECTORIES;
  const file = join(root, `part-${directory % 20}`, `sub-${directory}`, "file-7.txt");
  writeFileSync(file, `${round} ${process.hrtime.bigint()}\n`);
}

function timeWork(work: () => Promise<unknown>): () => Promise<number> {
  return async () => {
    const started = performance.now();
    await work();
    return performance.now() - started;
  };
}

async function git(cwd: string, ...args: readonly string[]): Promise<void> {
  await promisify(execFile)("git", args, { cwd, env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" } });
}
