import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createWorkspaces } from "../src/workspace/workspaces.ts";
import { temporaryDirectory } from "../test/support/host.ts";
import { interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";

const name = "worktree";
const FILES = 2_000;
const run = promisify(execFile);

/** What creating a session's workspace adds to the git command that a person would type. */
export const worktree: BenchCase = {
  name,
  async run() {
    using directory = temporaryDirectory();
    const [source, capstanHome] = [join(directory.path, "project"), join(directory.path, "capstan")];
    const environment = { PATH: process.env["PATH"] ?? "", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
    const git = (...args: readonly string[]): Promise<unknown> => run("git", args, { cwd: source, env: environment });
    for (let index = 0; index < FILES; index++) {
      const folder = join(source, `part-${index % 40}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `file-${index}.ts`), `export const value${index} = ${index};\n`.repeat(40));
    }
    await git("init", "--quiet");
    await git("add", "--all");
    await git(
      "-c",
      "user.name=Bench",
      "-c",
      "user.email=bench@example.invalid",
      "commit",
      "--quiet",
      "--message",
      "all",
    );
    const workspaces = createWorkspaces({
      root: join(capstanHome, "workspaces"),
      mountRoots: [],
      home: undefined,
      capstanHome,
      openShadow: () => {
        throw new Error("This case takes no checkpoints.");
      },
    });
    const { session, bare } = await interleave(
      { rounds: 20, warmUp: 3 },
      {
        async session(round) {
          const sessionId = `session-${round + 3}`;
          const started = performance.now();
          const made = await workspaces.prepare({ sessionId, source, workspace: { kind: "worktree" } });
          const time = performance.now() - started;
          await workspaces.remove({ sessionId, kind: "worktree", cwd: made.cwd, source });
          return time;
        },
        async bare(round) {
          const path = join(directory.path, "bare", String(round + 3));
          const started = performance.now();
          await git("worktree", "add", "--quiet", "-b", `bare/${round + 3}`, path);
          const time = performance.now() - started;
          await git("worktree", "remove", "--force", path);
          return time;
        },
      },
    );
    const what = `start in a worktree of ${FILES} files : git worktree add`;
    return [ratioRow({ name, what, measured: session, against: bare }, 1.2)];
  },
};
