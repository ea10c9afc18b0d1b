import { join } from "node:path";
import { CapstanError } from "../../../core/errors.ts";
import { requireVariables } from "../../../core/auth/gateway-variables.ts";
import { makeOwnDirectory, removeOwn } from "../../../process/own-files.ts";
import { findProgram } from "../../../process/programs.ts";
import type { Stubs } from "../../../sandbox/stubs.ts";
import type { Confinement } from "../../../sandbox/support.ts";
import type { ToolDirectories } from "../tools/builtin-tool.ts";

/** Where and how a session's commands run. */
export interface ShellContext extends ToolDirectories {
  /** Temporary files of the session's commands; its creator removes it. */
  readonly tempDir: string;
  /** Search path of the commands. */
  readonly path: string;
  /** Variables for the commands alone. */
  readonly variables: Readonly<Record<string, string>>;
  /** The programs that end a command with the host (`findContainment`); undefined if there are none. */
  readonly containment: readonly string[] | undefined;
  /** The sandbox; undefined if commands are not confined. */
  readonly confinement: Confinement | undefined;
  /** Files that sandboxes of this session leave in its workspace. */
  readonly stubs: Pick<Stubs, "markUsed" | "sweep">;
}

export interface ShellPrograms {
  readonly bash: string;
  readonly cat: string;
  readonly env: string;
}

/** Finds programs by absolute path, where no agent can place one. Throws `engine_failed` for a missing one. */
export function findPrograms({ path, cwd }: Pick<ShellContext, "path" | "cwd">): ShellPrograms {
  const find = (name: string): string => {
    const found = findProgram(name, { path, outside: cwd });
    if (found !== undefined) return found;
    throw new CapstanError("engine_failed", `${name} not found in PATH (${path}). Install ${name}.`);
  };
  return { bash: find("bash"), cat: find("cat"), env: find("env") };
}

/** The shell's directories in the session's own. Created anew for each process of the session. */
export interface ShellDirectories {
  readonly home: string;
  /** Files that start commands in the sandbox, readable there. */
  readonly shown: string;
  /** Files that start commands outside the sandbox, hidden inside it. */
  readonly hidden: string;
  /** Outputs that the model is asked to read. Commands may read them too. */
  readonly outputs: string;
}

export function makeDirectories({ stateDir }: Pick<ShellContext, "stateDir">): ShellDirectories {
  // Not through a link that an earlier command left there.
  const shell = makeOwnDirectory(stateDir, "shell");
  const makeAnew = (name: string): string => {
    removeOwn(join(shell, name));
    return makeOwnDirectory(shell, name);
  };
  return {
    home: makeOwnDirectory(stateDir, "home"),
    shown: makeAnew("shown"),
    hidden: makeAnew("hidden"),
    outputs: makeAnew("outputs"),
  };
}

/** The variables that every command starts with. */
export function baseVariables(
  { sessionId, tempDir, path, variables, confinement }: ShellContext,
  { home, isOutside }: { readonly home: string; readonly isOutside: boolean },
): Record<string, string> {
  requireVariables(variables);
  const hidden = confinement !== undefined && !isOutside ? confinement.plan.hiddenVariables : [];
  return {
    PATH: path,
    LANG: "C.UTF-8",
    HOME: home,
    TMPDIR: tempDir,
    // Tells `capstan trust` that an agent started it.
    CAPSTAN_SESSION: sessionId,
    ...Object.fromEntries(Object.entries(variables).filter(([name]) => !hidden.includes(name))),
  };
}
