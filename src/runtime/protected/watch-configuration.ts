import { mkdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { z } from "zod";
import type { EventDraft } from "../../core/events/events.ts";
import { messageOf } from "../../core/errors.ts";
import { protectedRow, rowOfPath } from "../../core/permission/protected/match.ts";
import { readOwnFile, removeOwn, writeOwnFile } from "../../process/own-files.ts";
import type { SessionBasics, SessionSurroundings } from "../session-deps.ts";
import type { CallSubject } from "../../core/rules/subject.ts";
import { type Approved, approved, approvedBy, isApproved, NOTHING_APPROVED, withApproved } from "./approved-files.ts";
import { type Disabled, disableAll, isRepository, repositoryOf, takesEffect } from "./disable-configuration.ts";
import { allConfigurationBelow } from "./find-configuration.ts";
import { fingerprintOf, statsOf } from "./fingerprints.ts";
import { isGitHead } from "./git-layout.ts";
import { linkedRepositories } from "./gitlinks.ts";

type Changed = EventDraft<"capstan.configuration_changed">;

/** The configuration found, by absolute path, and whether the whole workspace was searched. */
interface Looked {
  readonly prints: Readonly<Record<string, string>>;
  readonly isAll: boolean;
  readonly directories: number;
}

/** The configuration before the first change of a turn, and what people have allowed the turn to write since. */
interface Kept extends Looked {
  readonly approved: Approved;
}

/** Larger workspaces are checked at the end of the turn instead of after each call. */
const QUICK_DIRECTORIES = 2_000;
/** At most this many paths are reported. */
const TOLD = 20;

/**
 * Finds configuration that appears or changes in a workspace during a turn, whatever wrote it: a program can create a
 * repository or a `.capstan` deep in the tree, where no sandbox can prevent it. The state before a turn's first call is
 * saved on disk, so that a turn cut off by a crash is checked with the next one.
 */
export class ConfigurationWatch {
  readonly #file: string;
  readonly #cwd: string;
  readonly #isConfined: boolean;
  readonly #createdAt: number;
  /** Calls in progress that may change files. */
  readonly #running = new Set<string>();
  /** A command of the agent may run on when its turn is over. */
  #leavesCommands = false;
  /** What was there at the end of the last turn. */
  #seen: Looked | undefined;

  constructor({ record, stateDir }: Pick<SessionBasics, "record"> & Pick<SessionSurroundings, "stateDir">) {
    this.#file = join(stateDir, "configuration.json");
    this.#cwd = record.cwd;
    this.#createdAt = record.createdAt;
    this.#isConfined = record.environment.sandbox.mode !== "off";
  }

  /** Before a call that may change files, as it may run. `isLeft`: it starts a command that its result does not wait for. */
  async beforeCall(callId: string, subject?: CallSubject, { isLeft = false } = {}): Promise<void> {
    this.#leavesCommands ||= isLeft && this.#isConfined;
    const seen = statsOf(this.#file) === undefined ? await scanConfiguration(this.#cwd) : undefined;
    // Read again: another call may have been allowed meanwhile.
    const before = read(this.#file) ?? (seen && { ...seen, approved: NOTHING_APPROVED });
    const allowed = approvedBy(subject);
    this.#running.add(callId);
    if (before === undefined || (seen === undefined && allowed === NOTHING_APPROVED)) return;
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    const kept: Kept = { ...before, approved: withApproved(before.approved, allowed) };
    writeOwnFile(this.#file, JSON.stringify(kept));
  }

  /**
   * Returns events to log before the agent's next call. In a session with a sandbox, disables new configuration that
   * nobody approved. Repositories wait until the end of the turn, because another call may be creating one. Never
   * rejects.
   */
  async afterCall(callId: string): Promise<readonly EventDraft[]> {
    const before = this.#running.delete(callId) && this.#isConfined ? read(this.#file) : undefined;
    if (before === undefined || before.directories > QUICK_DIRECTORIES) return [];
    try {
      const now = await scanConfiguration(this.#cwd);
      const made = this.#findUnapproved(now, before).filter((path) => !isRepository(path));
      if (made.length === 0) return [];
      const { disabled, problem } = disableAll(made, this.#cwd);
      return [this.#event(made, disabled, problem)];
    } catch (thrown) {
      return [this.#event([], [], messageOf(thrown))];
    }
  }

  #findUnapproved(now: Looked, before: Kept): readonly string[] {
    return Object.keys(now.prints).filter(
      (path) =>
        before.prints[path] === undefined &&
        takesEffect(path, this.#cwd) &&
        // Read again: a call may have been allowed since.
        !isApproved(path, read(this.#file)?.approved ?? before.approved, this.#cwd),
    );
  }

  /**
   * Returns events to log. In a session with a sandbox, first disables new configuration that nobody approved. Never
   * rejects.
   */
  async atTurnEnd(): Promise<readonly EventDraft[]> {
    const before = read(this.#file);
    if (before === undefined) return [];
    try {
      const now = await scanConfiguration(this.#cwd);
      const changed = Object.keys(now.prints).filter((path) => now.prints[path] !== before.prints[path]);
      const { linked, tooDeep, failure } = this.#isConfined ? await this.#linkedSince(now) : NONE_LINKED;
      const grown = changed.filter((path) => before.prints[path] !== undefined && this.#isMadeHere(path));
      const risky = [...grown, ...linked].filter((path) => takesEffect(path, this.#cwd));
      const unwanted = this.#isConfined ? [...this.#findUnapproved(now, before), ...risky, ...tooDeep] : [];
      const { disabled, problem: left } = disableAll(unwanted, this.#cwd);
      this.#seen = without(now, disabled);
      const problem = before.isAll && !now.isAll ? "it has too many directories to check them all." : (left ?? failure);
      const all = [...new Set([...changed, ...linked, ...tooDeep])];
      return all.length === 0 && problem === undefined ? [] : [this.#event(all, disabled, problem)];
    } catch (thrown) {
      return [this.#event([], [], messageOf(thrown))];
    }
  }

  /** The log has what there is to say. What a command writes that runs on is found by the next look. */
  markReported(): void {
    const seen = this.#leavesCommands ? this.#seen : undefined;
    if (seen === undefined) return removeOwn(this.#file);
    writeOwnFile(this.#file, JSON.stringify({ ...seen, approved: NOTHING_APPROVED } satisfies Kept));
  }

  /** When nothing of the session runs any more: says what commands wrote since the end of the last turn. */
  async atRest(say: (warned: readonly EventDraft[]) => Promise<unknown>): Promise<void> {
    if (!this.#leavesCommands) return;
    const warned = await this.atTurnEnd();
    if (warned.length > 0) await say(warned);
    this.#leavesCommands = false;
    this.markReported();
  }

  /** Changed repositories that git enters automatically, in directories that were not searched. */
  async #linkedSince({ prints }: Looked): Promise<Linked> {
    const since = statsOf(this.#file)?.ctimeMs ?? 0;
    const isChanged = (path: string): boolean =>
      prints[path] === undefined && ["", ...TELLING].some((name) => (statsOf(join(path, name))?.ctimeMs ?? 0) >= since);
    try {
      const { repositories, tooDeep } = await linkedRepositories(this.#cwd);
      return { linked: repositories.filter(isChanged), tooDeep: tooDeep.filter(isChanged) };
    } catch (thrown) {
      return { ...NONE_LINKED, failure: messageOf(thrown) };
    }
  }

  /**
   * Whether an earlier turn of this session created the repository: it was harmless then, and commands could write to
   * it since.
   */
  #isMadeHere(path: string): boolean {
    return isRepository(path) && (statsOf(repositoryOf(path))?.birthtimeMs ?? 0) >= this.#createdAt;
  }

  #event(changed: readonly string[], disabled: readonly Disabled[], problem: string | undefined): Changed {
    const relativePath = (path: string): string => relative(this.#cwd, path);
    return {
      type: "capstan.configuration_changed",
      changed: changed.slice(0, TOLD).map((path) => ({ path: relativePath(path), read_by: readerOf(path, this.#cwd) })),
      disabled: disabled.map(({ path, movedTo }) => ({ path: relativePath(path), moved_to: relativePath(movedTo) })),
      ...(changed.length > TOLD && { changed_count: changed.length }),
      ...(problem !== undefined && { problem }),
    };
  }
}

/** Repositories that git enters by itself, and those behind which more follow than are looked at. */
interface Linked {
  readonly linked: readonly string[];
  readonly tooDeep: readonly string[];
  readonly failure?: string;
}

const NONE_LINKED: Linked = { linked: [], tooDeep: [] };

function readerOf(path: string, cwd: string): string {
  if (isGitHead(path)) return "git";
  return (rowOfPath(path, { workspace: cwd, home: cwd }) ?? protectedRow("$AGENT")).readBy;
}

async function scanConfiguration(cwd: string): Promise<Looked> {
  const { paths, isAll, directories } = await allConfigurationBelow(cwd);
  const prints = paths.flatMap((path): [string, string][] => {
    const name = basename(path).toLowerCase();
    const print = isRepository(path) ? gitFingerprint(repositoryOf(path)) : fingerprintOf(path);
    // An empty `.capstan` marks a project; at the top level, server sandboxes create one so that nothing else can.
    const isMarker = name === ".capstan" && dirname(path) !== cwd;
    return print === undefined && !isMarker ? [] : [[path, print ?? "empty"]];
  });
  return { prints: Object.fromEntries(prints), isAll, directories };
}

function without(looked: Looked, disabled: readonly Disabled[]): Looked {
  const gone = new Set(disabled.map(({ path }) => path));
  const prints = Object.entries(looked.prints).filter(([path]) => !gone.has(path));
  return { ...looked, prints: Object.fromEntries(prints) };
}

const TELLING = ["config", "config.worktree", "commondir", "gitdir", "info/attributes", "hooks"];

/** Fingerprints only the parts of a repository that make git run something; commits and the index are normal work. */
function gitFingerprint(path: string): string {
  if (statsOf(path)?.isDirectory() !== true) return fingerprintOf(path) ?? "";
  return ["repository", ...TELLING.map((name) => fingerprintOf(join(path, name)) ?? "")].join(" ");
}

const stored = z.object({
  prints: z.record(z.string(), z.string()),
  isAll: z.boolean(),
  directories: z.number().default(0),
  approved: approved.default(NOTHING_APPROVED),
});

function read(file: string): Kept | undefined {
  if (statsOf(file) === undefined) return undefined;
  try {
    return stored.parse(JSON.parse(readOwnFile(file) ?? ""));
  } catch {
    // The file was cut off while being written, so no call has run since.
    removeOwn(file);
    return undefined;
  }
}
