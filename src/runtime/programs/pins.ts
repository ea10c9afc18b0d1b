import { createHash } from "node:crypto";
import { basename, dirname, isAbsolute, relative } from "node:path";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { isInside } from "../../core/paths/inside.ts";
import { programFiles } from "../../process/program-files.ts";

/** The parts of an agent that run programs. */
export type Programs = Pick<AgentDefinition, "functions" | "hooks" | "mcp_servers">;

/** What is in the files that an agent's programs consist of: SHA-256 by path, which is relative within the workspace. */
export type Pins = Readonly<Record<string, string>>;

export interface ProgramPlace {
  /** Where the session works, and where words of a command lead. */
  readonly cwd: string;
  /** Where it was started; for a clone it may be an address. */
  readonly source: string;
}

/** One file as it is now. */
export interface ProgramFile {
  /** As in the pins. */
  readonly key: string;
  readonly path: string;
  /** Of what matters of it. */
  readonly hash: string;
  /** Of all of it. */
  readonly whole: string;
}

/**
 * The project files that these programs are, and those that they load, as they are now. `known` are pins from before: a file
 * among them counts wherever it lies. Files of the system are nobody's to pin.
 */
export function programsNow(
  programs: Programs,
  { cwd, source }: ProgramPlace,
  known: Pins = {},
): readonly ProgramFile[] {
  const modules = (programs.functions ?? []).map(({ module }) => dirname(module));
  const places = [cwd, source, ...modules, ...Object.keys(known)].filter((path) => isAbsolute(path));
  const found = programFiles(withoutRedirections(programs), { from: [cwd], within: places });
  return [...found].map(([path, bytes]) => {
    const whole = sha256(bytes);
    return {
      key: keyOf(path, cwd),
      path,
      whole,
      hash: basename(path) === "package.json" ? hashOfPackage(bytes) : whole,
    };
  });
}

/** Under which name a file is pinned: the same in a copy of the directory, and when the session goes on elsewhere. */
export function keyOf(path: string, cwd: string): string {
  return path !== cwd && isInside(path, cwd) ? relative(cwd, path) : path;
}

/** A hook may write a file of its own and name it: what follows `>` or `<` is data, and no program. */
function withoutRedirections(programs: Programs): Programs {
  const { hooks } = programs;
  if (hooks === undefined) return programs;
  const plain = Object.entries(hooks).map(([kind, list]) => [
    kind,
    list.map((hook) =>
      typeof hook.command === "string" ? { ...hook, command: hook.command.replaceAll(REDIRECTION, " ") } : hook,
    ),
  ]);
  return { ...programs, hooks: Object.fromEntries(plain) as Programs["hooks"] };
}

const REDIRECTION = /\d*(?:>>|>\||>|<)\s*(?:"[^"]*"|'[^']*'|[^\s;|&()<>]+)/g;

/** Of a package's description only what says how its modules are read: to add a dependency changes no program. */
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
