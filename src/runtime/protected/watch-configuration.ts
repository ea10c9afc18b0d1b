import { mkdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { z } from "zod";
import type { EventDraft } from "../../core/events/events.ts";
import { messageOf } from "../../core/errors.ts";
import { protectedRow, rowOfPath } from "../../core/permission/protected/match.ts";
import { readOwnFile, removeOwn, writeOwnFile } from "../../process/own-files.ts";
import type { SessionParts } from "../session-deps.ts";
import type { CallSubject } from "../../core/rules/subject.ts";
import { type Approved, approved, approvedBy, isApproved, NOTHING_APPROVED, withApproved } from "./approved.ts";
import { type Disabled, disable, isRepository, takesEffect } from "./disable.ts";
import { allConfigurationBelow } from "./find-configuration.ts";
import { fingerprintOf, statsOf } from "./fingerprints.ts";
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

  constructor({ record, stateDir }: Pick<SessionParts, "record" | "stateDir">) {
    this.#file = join(stateDir, "configuration.json");
    this.#cwd = record.cwd;
    this.#createdAt = record.createdAt;
    this.#isConfined = record.environment.sandbox.mode !== "off";
  }

  /** Called before an allowed call that may change files. */
  async beforeCall(callId: string, subject?: CallSubject): Promise<void> {
    const seen = statsOf(this.#file) === undefined ? await looked(this.#cwd) : undefined;
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
      const now = await looked(this.#cwd);
      const made = this.#unapproved(now, before).filter((path) => !isRepository(path));
      return made.length === 0 ? [] : [this.#event(made, made.map(disable), undefined)];
    } catch (thrown) {
      return [this.#event([], [], messageOf(thrown))];
    }
  }

  #unapproved(now: Looked, before: Kept): readonly string[] {
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
      const now = await looked(this.#cwd);
      const changed = Object.keys(now.prints).filter((path) => now.prints[path] !== before.prints[path]);
      const { linked, failure } = this.#isConfined ? await this.#linkedSince(now) : { linked: [] };
      const grown = changed.filter((path) => before.prints[path] !== undefined && this.#isMadeHere(path));
      const risky = [...grown, ...linked].filter((path) => takesEffect(path, this.#cwd));
      const disabled = this.#isConfined ? [...this.#unapproved(now, before), ...risky].map(disable) : [];
      const problem = before.isAll && !now.isAll ? "it has too many directories to check them all." : failure;
      const all = [...changed, ...linked];
      return all.length === 0 && problem === undefined ? [] : [this.#event(all, disabled, problem)];
    } catch (thrown) {
      return [this.#event([], [], messageOf(thrown))];
    }
  }

  /** Called when the events are in the log. */
  told(): void {
    removeOwn(this.#file);
  }

  /** Changed repositories that git enters automatically, in directories that were not searched. */
  async #linkedSince({ prints }: Looked): Promise<{ linked: readonly string[]; failure?: string }> {
    const since = statsOf(this.#file)?.ctimeMs ?? 0;
    const isChanged = (path: string): boolean => (statsOf(path)?.ctimeMs ?? 0) >= since;
    try {
      const all = (await linkedRepositories(this.#cwd)).filter((path) => prints[path] === undefined);
      return { linked: all.filter((path) => ["", ...TELLING].some((name) => isChanged(join(path, name)))) };
    } catch (thrown) {
      return { linked: [], failure: messageOf(thrown) };
    }
  }

  /**
   * Whether an earlier turn of this session created the repository: it was harmless then, and commands could write to
   * it since.
   */
  #isMadeHere(path: string): boolean {
    return isRepository(path) && (statsOf(path)?.birthtimeMs ?? 0) >= this.#createdAt;
  }

  #event(changed: readonly string[], disabled: readonly Disabled[], problem: string | undefined): Changed {
    const shown = (path: string): string => relative(this.#cwd, path);
    return {
      type: "capstan.configuration_changed",
      changed: changed.slice(0, TOLD).map((path) => ({ path: shown(path), read_by: readerOf(path, this.#cwd) })),
      disabled: disabled.map(({ path, movedTo }) => ({ path: shown(path), moved_to: shown(movedTo) })),
      ...(changed.length > TOLD && { changed_count: changed.length }),
      ...(problem !== undefined && { problem }),
    };
  }
}

function readerOf(path: string, cwd: string): string {
  return (rowOfPath(path, { workspace: cwd, home: cwd }) ?? protectedRow("$AGENT")).readBy;
}

async function looked(cwd: string): Promise<Looked> {
  const { paths, isAll, directories } = await allConfigurationBelow(cwd);
  const prints = paths.flatMap((path): [string, string][] => {
    const name = basename(path).toLowerCase();
    const print = name === ".git" ? gitFingerprint(path) : fingerprintOf(path);
    // An empty `.capstan` marks a project; at the top level, server sandboxes create one so that nothing else can.
    const isMarker = name === ".capstan" && dirname(path) !== cwd;
    return print === undefined && !isMarker ? [] : [[path, print ?? "empty"]];
  });
  return { prints: Object.fromEntries(prints), isAll, directories };
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
