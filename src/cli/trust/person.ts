import { readFileSync } from "node:fs";
import { CapstanError } from "../../core/errors.ts";

/** Set in the environment of every agent's process, and so of all its commands. */
const MARKER = "CAPSTAN_SESSION";

/** What supervises agents is a person's word: no agent gives it for itself. */
export function requirePerson(what: string, does = "trust files"): void {
  if (!isAgent()) return;
  throw new CapstanError(
    "not_allowed",
    `${what} was started by an agent, and only a person can ${does}. Run it yourself, in a shell of your own.`,
  );
}

/** Whether an agent's command, at any distance, started this process. */
export function isAgent(): boolean {
  return process.env[MARKER] !== undefined || ancestors().some(isAgents);
}

/** More than any chain of processes is long. */
const MAX_DEPTH = 200;

/** The processes that this one was started by, as far as this system tells. */
function ancestors(): readonly number[] {
  const found: number[] = [];
  for (let pid = process.ppid; pid > 0 && found.length < MAX_DEPTH; pid = parentOf(pid)) found.push(pid);
  return found;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(contentOf(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** A command can change its own environment, and not that of the process it came from. */
function isAgents(pid: number): boolean {
  return contentOf(`/proc/${pid}/environ`)
    .split("\0")
    .some((entry) => entry.startsWith(`${MARKER}=`));
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
