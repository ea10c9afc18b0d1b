import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { EngineRequest } from "../../../core/ports/engine.ts";
import { CapstanError } from "../../../core/errors.ts";
import { findProgram } from "../../../process/programs.ts";
import type { Leftovers } from "../../../process/leftovers.ts";
import { writeCommandShell } from "./command-shell.ts";

/**
 * Files of one CLI process in the session's own directory, which sandboxed commands can't write. Removed with the
 * process.
 */
export interface ProcessFiles {
  /** Sandboxed commands can't read it either. */
  readonly directory: string;
  /** Sandboxed commands can read it. */
  readonly shellDirectory: string;
  /** Output of failed commands. Sandboxed commands can't read or write it. */
  readonly outputs: string;
  /** CLI variables that give its commands their own variables. */
  readonly environment: Readonly<Record<string, string>>;
}

export function writeProcessFiles(
  request: EngineRequest,
  { path, confined, leftovers }: { readonly path: string; readonly confined: boolean; readonly leftovers: Leftovers },
): ProcessFiles {
  const { stateDir, variables, sandbox, cwd } = request;
  const directory = mkdtempSync(join(stateDir, "process-"));
  leftovers.note(directory);
  const shellDirectory = join(directory, "shell");
  const outputs = join(directory, "outputs");
  mkdirSync(outputs, { mode: 0o700 });
  const environment = writeCommandShell({
    shown: shellDirectory,
    hidden: directory,
    bash: bashFor(path, cwd),
    path,
    outputs,
    variables,
    hiddenVariables: confined ? (sandbox?.hiddenVariables ?? []) : [],
  });
  return { directory, shellDirectory, outputs, environment };
}

function bashFor(path: string, cwd: string): string {
  const found = findProgram("bash", { path, outside: cwd });
  if (found !== undefined) return found;
  throw new CapstanError("engine_failed", `bash not found in PATH (${path}). Install bash.`);
}
