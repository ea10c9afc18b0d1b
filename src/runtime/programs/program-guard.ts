import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { LARGE_BYTES } from "../../process/program-files.ts";
import {
  pinKeyOf,
  type Pins,
  type ProgramFile,
  type ProgramDirectory,
  type AgentPrograms,
  programsNow,
} from "./pins.ts";

/** Whether a person has trusted this exact content of a file. */
export type IsTrustedFile = (path: string, sha256: string) => boolean;

interface GuardOptions extends ProgramDirectory {
  readonly isTrustedFile: IsTrustedFile;
  /** The programs when the session was started; undefined if unknown. */
  readonly pins: () => Pins | undefined;
}

/**
 * Lets an agent's program run only as it was when the session was started, or as a person has trusted it since. An
 * agent that can write files can write these; the sandbox confines what they load from elsewhere.
 */
export class ProgramGuard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** The files that have changed, by their names in the pins, and all that are missing. */
  listChanged(programs: AgentPrograms): readonly string[] {
    const pins = this.#options.pins();
    if (pins === undefined) return [];
    const now = programsNow(programs, this.#options, pins);
    const changed = now.filter((file) => pins[file.key] !== file.hash && !this.#isTrusted(file));
    // A program with a missing part may fail where it should deny.
    const gone = Object.keys(pins).filter((key) => !existsSync(resolve(this.#options.cwd, key)));
    return [...changed.map(({ key }) => key), ...gone];
  }

  /** Throws `untrusted` if any of them has changed. `what` names the program that would run. */
  require(programs: AgentPrograms, what: string): void {
    const changed = this.listChanged(programs);
    if (changed.length > 0) throw changedPrograms(changed, what);
  }

  /** Throws `untrusted` if a file of an MCP server has changed. Returns what each server must find when it starts. */
  ofServers(servers: NonNullable<AgentPrograms["mcp_servers"]>): Readonly<Record<string, Pins>> {
    this.require({ mcp_servers: servers }, "The agent's MCP servers were not started");
    const each = Object.entries(servers).map(([name, server]) => [
      name,
      this.#expectedPins({ mcp_servers: { [name]: server } }),
    ]);
    return Object.fromEntries(each) as Readonly<Record<string, Pins>>;
  }

  /**
   * The SHA-256 that a program started later must find, by absolute path. Leaves out files that are pinned only in
   * part.
   */
  #expectedPins(programs: AgentPrograms): Pins {
    const pins = this.#options.pins() ?? {};
    const files = programsNow(programs, this.#options, pins).filter(
      ({ hash, whole, path }) => hash === whole && statSync(path).size <= LARGE_BYTES,
    );
    return Object.fromEntries(
      files.map((file) => [file.path, this.#isTrusted(file) ? file.whole : (pins[file.key] ?? NO_FILE)]),
    );
  }

  /** Trust applies to the directory that the session was started in and to copies of it. */
  #isTrusted({ key, path, whole }: ProgramFile): boolean {
    const { source, isTrustedFile } = this.#options;
    return isTrustedFile(path, whole) || isTrustedFile(resolve(source, key), whole);
  }
}

/** A hash that no file has. */
const NO_FILE = "0".repeat(64);

export function changedPrograms(changed: readonly string[], what: string): CapstanError {
  return new CapstanError(
    "untrusted",
    `${what}: ${changed.join(", ")} ${changed.length === 1 ? "has" : "have"} changed since the session was started. ${REMEDY}`,
    { data: { files: [...changed] } },
  );
}

const REMEDY = "Review the change and run capstan trust with the agent's file, or start a new session.";

/**
 * Pins a new session's programs as they are now. `trusted` has their hashes from when trust was checked, by absolute
 * path: a program that has changed since is rejected.
 */
export function pinPrograms(programs: AgentPrograms, place: ProgramDirectory, trusted: Pins = {}): Pins {
  const expected = new Map(Object.entries(trusted).map(([path, hash]) => [pinKeyOf(path, place.source), hash]));
  const files = programsNow(programs, place, trusted);
  const changed = files.filter(({ key, whole }) => (expected.get(key) ?? whole) !== whole).map(({ key }) => key);
  if (changed.length > 0) throw changedPrograms(changed, "The session was not started");
  return Object.fromEntries(files.map(({ key, hash }) => [key, hash]));
}

export function programsPinnedEvent(pins: Pins): EventDraft<"capstan.programs_pinned"> {
  const files = Object.entries(pins).map(([path, sha256]) => ({ path, sha256 }));
  return { type: "capstan.programs_pinned", files };
}
