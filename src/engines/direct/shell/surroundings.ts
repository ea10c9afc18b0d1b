import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CapstanError } from "../../../core/errors.ts";
import { requireVariables } from "../../../core/auth/gateway-variables.ts";
import { findProgram } from "../../../process/programs.ts";
import type { Stubs } from "../../../sandbox/stubs.ts";
import type { Confinement } from "../../../sandbox/support.ts";
import type { ToolPlace } from "../tools/builtin-tool.ts";

/** Where and how the commands of a session run. */
export interface ShellPlace extends ToolPlace {
  /** Temporary files of the session's commands; removed by whoever made it. */
  readonly tempDir: string;
  /** Search path of the commands. */
  readonly path: string;
  /** Variables for the commands alone. */
  readonly variables: Readonly<Record<string, string>>;
  /** The programs that tie a command to the life of the host (`findContainment`); undefined where there are none. */
  readonly containment: readonly string[] | undefined;
  /** The sandbox; undefined when commands are not confined. */
  readonly confinement: Confinement | undefined;
  /** What sandboxes of this session leave in its workspace. It expects them already. */
  readonly stubs: Pick<Stubs, "used" | "sweep">;
}

export interface Programs {
  readonly bash: string;
  readonly cat: string;
  readonly env: string;
}

/** Found by whole paths, where no agent can put one. Throws `engine_failed` with what is missing. */
export function findPrograms({ path, cwd }: Pick<ShellPlace, "path" | "cwd">): Programs {
  const find = (name: string): string => {
    const found = findProgram(name, { path, outside: cwd });
    if (found !== undefined) return found;
    throw new CapstanError(
      "engine_failed",
      `${name} was not found; looked in PATH, which is ${path}. Install ${name}.`,
    );
  };
  return { bash: find("bash"), cat: find("cat"), env: find("env") };
}

/** Directories of the shell in the session's own. Made anew for each process of the session. */
export interface ShellDirectories {
  readonly home: string;
  /** Files that commands in the sandbox are started with. They may read them. */
  readonly shown: string;
  /** Files that commands outside are started with; hidden in the sandbox. */
  readonly hidden: string;
  /** Outputs that the model is told to read. Commands may read them, too. */
  readonly outputs: string;
}

export function makeDirectories({ stateDir }: Pick<ShellPlace, "stateDir">): ShellDirectories {
  const make = (name: string): string => {
    const path = join(stateDir, name);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };
  for (const name of ["shown", "hidden", "outputs"])
    rmSync(join(stateDir, "shell", name), { recursive: true, force: true });
  return {
    home: make("home"),
    shown: make("shell/shown"),
    hidden: make("shell/hidden"),
    outputs: make("shell/outputs"),
  };
}

/** The variables that every command starts with. */
export function baseVariables(
  { sessionId, tempDir, path, variables, confinement }: ShellPlace,
  { home, isOutside }: { readonly home: string; readonly isOutside: boolean },
): Record<string, string> {
  requireVariables(variables);
  const hidden = confinement !== undefined && !isOutside ? confinement.plan.hiddenVariables : [];
  return {
    PATH: path,
    LANG: "C.UTF-8",
    HOME: home,
    TMPDIR: tempDir,
    // `capstan trust` knows by it that an agent started it.
    CAPSTAN_SESSION: sessionId,
    ...Object.fromEntries(Object.entries(variables).filter(([name]) => !hidden.includes(name))),
  };
}
