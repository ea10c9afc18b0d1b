import { readFileSync } from "node:fs";
import { MACHINE, pidNamespace, UNKNOWN } from "../../app/hosts/pid-namespace.ts";
import { homeDirectory } from "../../config/project/home.ts";
import { CapstanError } from "../../core/errors.ts";

/** Set in the environment of every agent's process, and so of all its commands. */
const MARKER = "CAPSTAN_SESSION";

/** What supervises agents is a person's word: no agent gives it for itself. */
export async function requirePerson(what: string, does = "trust files"): Promise<void> {
  const sign = await signOfAgent();
  if (sign === undefined) return;
  throw new CapstanError("not_allowed", `${what} ${WORDS[sign]}, and only a person can ${does}. ${REMEDIES[sign]}`);
}

/** Whether an agent's command, at any distance, started this process, as far as this system tells. */
export async function isAgent(): Promise<boolean> {
  return (await signOfAgent()) !== undefined;
}

type Sign = "marked" | "apart" | "hidden";

const WORDS: Readonly<Record<Sign, string>> = {
  marked: "was started by an agent",
  apart: "runs in another PID namespace than the Capstan host at work, as the commands of agents do",
  hidden: "cannot see which PID namespace it runs in, because /proc is missing or covered",
};

const REMEDIES: Readonly<Record<Sign, string>> = {
  marked: "Run it yourself, in a shell of your own.",
  apart: "Run it where the host runs: in the same container, or outside any. Or stop the host first.",
  hidden: "Run it in a shell that has /proc.",
};

/**
 * An agent's command can change its own environment and leave its parent. It cannot leave the PID namespace that contains
 * it, and a namespace that it makes is no host's either. A person in a container shares the namespace of the host there.
 */
async function signOfAgent(): Promise<Sign | undefined> {
  if (process.env[MARKER] !== undefined || ancestors().some(isAgents)) return "marked";
  const namespace = pidNamespace();
  if (namespace === undefined || namespace === MACHINE) return undefined;
  if (namespace === UNKNOWN) return "hidden";
  const { namespacesOfHosts } = await import("../../app/hosts/running.ts");
  const hosts = namespacesOfHosts(homeDirectory(process.env).path);
  return hosts.some((host) => host !== namespace) ? "apart" : undefined;
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
