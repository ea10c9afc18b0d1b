import { readFileSync } from "node:fs";
import { MACHINE, pidNamespace, UNKNOWN } from "../../app/hosts/pid-namespace.ts";
import { homeDirectory } from "../../config/project/home.ts";
import { CapstanError } from "../../core/errors.ts";

/** Set in the environment of every agent's process, and so of all its commands. */
const MARKER = "CAPSTAN_SESSION";

/** Throws if an agent started this process: only a person may supervise agents. */
export async function requirePerson(what: string, does = "trust files"): Promise<void> {
  const sign = await signOfAgent();
  if (sign === undefined) return;
  throw new CapstanError("not_allowed", `${what} ${WORDS[sign]}, and only a person can ${does}. ${REMEDIES[sign]}`);
}

/** Whether an agent's command started this process, directly or indirectly, as far as the system shows. */
export async function isAgent(): Promise<boolean> {
  return (await signOfAgent()) !== undefined;
}

type Sign = "marked" | "apart" | "hidden";

const WORDS: Readonly<Record<Sign, string>> = {
  marked: "was started by an agent",
  apart: "runs in a different PID namespace than the running Capstan host, like the commands of agents",
  hidden: "cannot determine its PID namespace, because /proc is missing or hidden",
};

const REMEDIES: Readonly<Record<Sign, string>> = {
  marked: "Run it yourself, in your own shell.",
  apart: "Run it where the host runs (the same container, or none), or stop the host first.",
  hidden: "Run it in a shell that has /proc.",
};

/**
 * An agent's command can change its environment and detach from its parent, but it cannot leave its PID namespace, and
 * no host runs in a namespace that it creates. A person in a container shares the namespace of the host there.
 */
async function signOfAgent(): Promise<Sign | undefined> {
  if (process.env[MARKER] !== undefined || ancestors().some(isAgents)) return "marked";
  const namespace = pidNamespace();
  if (namespace === undefined || namespace === MACHINE) return undefined;
  if (namespace === UNKNOWN) return "hidden";
  const { namespacesOfHosts } = await import("../../app/hosts/running-hosts.ts");
  const hosts = namespacesOfHosts(homeDirectory(process.env).path);
  return hosts.some((host) => host !== namespace) ? "apart" : undefined;
}

/** Longer than any real chain of processes. */
const MAX_DEPTH = 200;

/** The parent processes, as far as the system shows them. */
function ancestors(): readonly number[] {
  const found: number[] = [];
  for (let pid = process.ppid; pid > 0 && found.length < MAX_DEPTH; pid = parentOf(pid)) found.push(pid);
  return found;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(contentOf(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** A command cannot change the environment of its parent processes. */
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
