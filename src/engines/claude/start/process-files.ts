import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { EngineRequest } from "../../../core/ports/engine.ts";
import { CapstanError } from "../../../core/errors.ts";
import { findProgram } from "../../../process/programs.ts";
import type { Leftovers } from "../../../process/leftovers.ts";
import { writeCommandShell } from "./command-shell.ts";

/** Files of one CLI process in the session's own directory, which no sandboxed command may write. Removed with it. */
export interface ProcessFiles {
  /** No sandboxed command may read it either. */
  readonly directory: string;
  /** What sandboxed commands may read. */
  readonly shellDirectory: string;
  /** What failed commands wrote. No sandboxed command may read or write it. */
  readonly outputs: string;
  /** Variables of the CLI by which its commands get theirs. */
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
  throw new CapstanError("engine_failed", `bash was not found; looked in PATH, which is ${path}. Install bash.`);
}
