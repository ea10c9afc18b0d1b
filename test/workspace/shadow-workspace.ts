import { execFileSync, spawn } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CheckpointSettings } from "../../src/core/environment/environment.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import type { TakenCheckpoint, Workspace, WorkspaceLocation } from "../../src/core/ports/workspace.ts";
import { openShadow } from "../../src/workspace/shadow/shadow.ts";

/** A workspace of the test's own, the place on the host that it came from, and its checkpoints. */
export interface ShadowWorkspace extends Disposable {
  readonly root: string;
  readonly cwd: string;
  readonly source: string;
  /** `checkpoints.git` */
  readonly repository: string;
  readonly workspace: Workspace;
  /** As another process would open it. */
  open(changed?: Partial<CheckpointSettings>): Workspace;
  /** Another session beside it. */
  session(id: string): { readonly cwd: string; readonly workspace: Workspace };
  readonly path: (name: string) => string;
  /** A checkpoint that must be there. */
  keep(last?: string): Promise<TakenCheckpoint>;
  /** A process of its own, killed so long after it has started with it. */
  runKilled(work: "checkpoint" | "restore" | "apply", args: readonly unknown[], afterMs: number): Promise<void>;
}

interface Options {
  readonly kind?: WorkspaceLocation["kind"];
  readonly settings?: Partial<CheckpointSettings>;
  /** Below the root: where the workspace and its source are. */
  readonly cwd?: string;
  readonly source?: string;
}

export function shadowWorkspace({
  kind = "copy",
  settings = {},
  cwd = "work",
  source = "host",
}: Options = {}): ShadowWorkspace {
  const root = mkdtempSync(join(tmpdir(), "capstan-shadow-"));
  const place = { sessionId: "sesn_one", kind, cwd: join(root, cwd), source: join(root, source) };
  const directory = join(root, "sessions", "sesn_one");
  const defaults = parseEnvironment({}).checkpoints;
  const open = (changed: Partial<CheckpointSettings> = {}): Workspace =>
    openShadow(place, { directory, settings: { ...defaults, ...settings, ...changed } });
  mkdirSync(place.cwd, { recursive: true });
  mkdirSync(place.source, { recursive: true });
  const workspace = open();
  return {
    root,
    cwd: place.cwd,
    source: place.source,
    repository: join(directory, "checkpoints.git"),
    workspace,
    open,
    session(id) {
      const other = { ...place, sessionId: id, cwd: join(root, `work-${id}`) };
      mkdirSync(other.cwd);
      const beside = join(root, "sessions", id);
      return { cwd: other.cwd, workspace: openShadow(other, { directory: beside, settings: defaults }) };
    },
    path: (name) => join(place.cwd, name),
    async keep(last) {
      const taken = await workspace.checkpoint(last);
      if (taken === undefined) throw new Error("Nothing has changed.");
      return taken;
    },
    runKilled: (work, args, afterMs) => killedChild({ place, directory, settings: defaults, work, args }, afterMs),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

const CHILD = `
import { openShadow } from ${JSON.stringify(resolve("src/workspace/shadow/shadow.ts"))};
const { place, directory, settings, work, args } = JSON.parse(process.argv[1]);
const workspace = openShadow(place, { directory, settings });
process.stdout.write("started");
await workspace[work](...args.map((arg) => arg ?? undefined));
`;

async function killedChild(task: object, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", CHILD, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise((done) => child.once("exit", done));
  await Promise.race([new Promise((started) => child.stdout.once("data", started)), ended]);
  await sleep(afterMs);
  child.kill("SIGKILL");
  await ended;
}

/** Every file and link below a directory, with all that a checkpoint must bring back. Names byte for byte. */
export function treeOf(root: string, skip: readonly string[] = [".git", "node_modules"]): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (directory: Buffer, prefix: string): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true, encoding: "buffer" })) {
      const name = entry.name.toString("latin1");
      const place = Buffer.concat([directory, Buffer.from("/"), entry.name]);
      if (skip.includes(name)) continue;
      if (entry.isDirectory()) visit(place, `${prefix}${name}/`);
      else found.set(prefix + name, describeEntry(place));
    }
  };
  visit(Buffer.from(root), "");
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function describeEntry(place: Buffer): string {
  const stats = lstatSync(place);
  if (stats.isSymbolicLink()) return `link ${readlinkSync(place, { encoding: "latin1" })}`;
  if (!stats.isFile()) return "something else";
  return `${(stats.mode & 0o7777).toString(8)} ${readFileSync(place).toString("latin1")}`;
}

/** Git as a user has it, without anything of the machine's. */
export function userGit(cwd: string, ...args: readonly string[]): string {
  const env = {
    PATH: process.env["PATH"],
    HOME: "/nonexistent",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "User",
    GIT_AUTHOR_EMAIL: "user@example.com",
    GIT_COMMITTER_NAME: "User",
    GIT_COMMITTER_EMAIL: "user@example.com",
  };
  return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
