import { createHash } from "node:crypto";
import { basename, dirname, isAbsolute, relative } from "node:path";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { isInside } from "../../core/paths/is-inside.ts";
import { programFiles } from "../../process/program-files.ts";

/** The parts of an agent that run programs. */
export type AgentPrograms = Pick<AgentDefinition, "functions" | "hooks" | "mcp_servers">;

/** The contents of the files that make up an agent's programs: SHA-256 by path, relative within the workspace. */
export type Pins = Readonly<Record<string, string>>;

export interface ProgramDirectory {
  /** Where the session works, and the base for paths in commands. */
  readonly cwd: string;
  /** Where the session was started; for a clone, possibly a URL. */
  readonly source: string;
}

/** The current state of one file. */
export interface ProgramFile {
  /** The file's key in the pins. */
  readonly key: string;
  readonly path: string;
  /** The hash of the relevant content. */
  readonly hash: string;
  /** The hash of the whole file. */
  readonly whole: string;
}

/**
 * The current project files of these programs and the files they load. `known` are earlier pins: a file among them
 * counts wherever it is. System files are not pinned.
 */
export function programsNow(
  programs: AgentPrograms,
  { cwd, source }: ProgramDirectory,
  known: Pins = {},
): readonly ProgramFile[] {
  const modules = (programs.functions ?? []).map(({ module }) => dirname(module));
  const places = [cwd, source, ...modules, ...Object.keys(known)].filter((path) => isAbsolute(path));
  const found = programFiles(withoutRedirections(programs), { from: [cwd], within: places });
  return [...found].map(([path, bytes]) => {
    const whole = sha256(bytes);
    return {
      key: pinKeyOf(path, cwd),
      path,
      whole,
      hash: basename(path) === "package.json" ? hashOfPackage(bytes) : whole,
    };
  });
}

/** The name a file is pinned under: the same in a copy of the directory, and when the session continues elsewhere. */
export function pinKeyOf(path: string, cwd: string): string {
  return path !== cwd && isInside(path, cwd) ? relative(cwd, path) : path;
}

/** Removes redirections: a hook may write and name its own file, and what follows `>` or `<` is data, not a program. */
function withoutRedirections(programs: AgentPrograms): AgentPrograms {
  const { hooks } = programs;
  if (hooks === undefined) return programs;
  const plain = Object.entries(hooks).map(([kind, list]) => [
    kind,
    list.map((hook) =>
      typeof hook.command === "string" ? { ...hook, command: hook.command.replaceAll(REDIRECTION, " ") } : hook,
    ),
  ]);
  return { ...programs, hooks: Object.fromEntries(plain) as AgentPrograms["hooks"] };
}

const REDIRECTION = /\d*(?:>>|>\||>|<)\s*(?:"[^"]*"|'[^']*'|[^\s;|&()<>]+)/g;

/**
 * Hashes only the parts of a package.json that decide how modules are loaded, so that adding a dependency does not
 * change a program.
 */
function hashOfPackage(bytes: Uint8Array): string {
  try {
    const { type, imports, exports, main } = JSON.parse(Buffer.from(bytes).toString("utf8")) as Record<string, unknown>;
    return sha256(JSON.stringify([type ?? null, imports ?? null, exports ?? null, main ?? null]));
  } catch {
    return sha256(bytes);
  }
}

function sha256(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}
