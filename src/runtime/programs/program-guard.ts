import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { LARGE_BYTES } from "../../process/program-files.ts";
import { keyOf, type Pins, type ProgramFile, type ProgramPlace, type Programs, programsNow } from "./pins.ts";

/** Whether a person has trusted a file with exactly this content. */
export type IsTrustedFile = (path: string, sha256: string) => boolean;

interface GuardOptions extends ProgramPlace {
  readonly isTrustedFile: IsTrustedFile;
  /** What the programs were when the session was started; undefined when nobody knows. */
  readonly pins: () => Pins | undefined;
}

/**
 * Lets a program of the agent run only as it was when the session was started, or as a person has trusted it since. Whoever
 * may write files may write these; what they load from elsewhere is the sandbox's to confine.
 */
export class ProgramGuard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** The files of these that are not as they were, by their names in the pins, and all that are gone. */
  changed(programs: Programs): readonly string[] {
    const pins = this.#options.pins();
    if (pins === undefined) return [];
    const now = programsNow(programs, this.#options, pins);
    const changed = now.filter((file) => pins[file.key] !== file.hash && !this.#isTrusted(file));
    // A program without a part of it may fail where it should deny.
    const gone = Object.keys(pins).filter((key) => !existsSync(resolve(this.#options.cwd, key)));
    return [...changed.map(({ key }) => key), ...gone];
  }

  /** Throws `untrusted` when one of them is another than it was. `what` is what would run. */
  require(programs: Programs, what: string): void {
    const changed = this.changed(programs);
    if (changed.length > 0) throw changedPrograms(changed, what);
  }

  /** Throws `untrusted` when a file of an MCP server is another than it was. What each must find when it is started. */
  ofServers(servers: NonNullable<Programs["mcp_servers"]>): Readonly<Record<string, Pins>> {
    this.require({ mcp_servers: servers }, "The agent's MCP servers were not started");
    const each = Object.entries(servers).map(([name, server]) => [
      name,
      this.#expected({ mcp_servers: { [name]: server } }),
    ]);
    return Object.fromEntries(each) as Readonly<Record<string, Pins>>;
  }

  /**
   * For a program that something else starts, at a time of its own: SHA-256 of what it must find, by absolute path. Without
   * files of which not every byte is pinned.
   */
  #expected(programs: Programs): Pins {
    const pins = this.#options.pins() ?? {};
    const files = programsNow(programs, this.#options, pins).filter(
      ({ hash, whole, path }) => hash === whole && statSync(path).size <= LARGE_BYTES,
    );
    return Object.fromEntries(
      files.map((file) => [file.path, this.#isTrusted(file) ? file.whole : (pins[file.key] ?? NO_FILE)]),
    );
  }

  /** Trust speaks of the directory that the session was started in, and of a copy of it as well. */
  #isTrusted({ key, path, whole }: ProgramFile): boolean {
    const { source, isTrustedFile } = this.#options;
    return isTrustedFile(path, whole) || isTrustedFile(resolve(source, key), whole);
  }
}

/** The hash of nothing that there is. */
const NO_FILE = "0".repeat(64);

export function changedPrograms(changed: readonly string[], what: string): CapstanError {
  return new CapstanError(
    "untrusted",
    `${what}: ${changed.join(", ")} ${changed.length === 1 ? "is" : "are"} not as trusted when the session was started. ${REMEDY}`,
    { data: { files: [...changed] } },
  );
}

const REMEDY = "A person must review the change and run capstan trust with the agent's file, or start a new session.";

/**
 * What a new session pins: its programs as they are. `trusted` is what they were when a person's trust was looked up, by
 * absolute path: a program that has changed since is refused.
 */
export function pinPrograms(programs: Programs, place: ProgramPlace, trusted: Pins = {}): Pins {
  const expected = new Map(Object.entries(trusted).map(([path, hash]) => [keyOf(path, place.source), hash]));
  const files = programsNow(programs, place, trusted);
  const changed = files.filter(({ key, whole }) => (expected.get(key) ?? whole) !== whole).map(({ key }) => key);
  if (changed.length > 0) throw changedPrograms(changed, "The session was not started");
  return Object.fromEntries(files.map(({ key, hash }) => [key, hash]));
}

export function programsPinned(pins: Pins): EventDraft<"capstan.programs_pinned"> {
  const files = Object.entries(pins).map(([path, sha256]) => ({ path, sha256 }));
  return { type: "capstan.programs_pinned", files };
}
