import { isHidden, isKeptFrom, isWhollyHidden, isWritable, type SandboxPlan } from "../environment/sandbox.ts";
import { prepareCall, hitBy } from "./match-call.ts";
import { rowOfPath } from "./protected/match.ts";
import { parseRule } from "../rules/rule.ts";
import { isInside } from "../paths/is-inside.ts";
import type { CallSubject, NamedPath } from "../rules/subject.ts";

/** A call denied by the environment's limits; no rule, mode, grant or person can allow it. */
export interface LimitDenial {
  readonly decidedBy: "sandbox:read" | "sandbox:write" | "sandbox:network";
  readonly reason: string;
}

/**
 * Whether a tool that runs in the agent's own process would exceed the limits of its commands. `readable` are
 * directories with results of this session that the engine told the model to read.
 */
export function outsideLimits(
  subject: CallSubject,
  plan: SandboxPlan,
  readable: readonly string[] = [],
): LimitDenial | undefined {
  if (subject.tool === "WebFetch") return beyondNetwork(subject, plan);
  for (const path of subject.paths) {
    const denial =
      path.access === "write"
        ? beyondWriting(path, plan, subject)
        : (beyondReading(path, plan, readable) ?? (subject.search === true ? beyondSearching(path, plan) : undefined));
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/**
 * Whether the command runs only in the sandbox, if there is one. A command that could not be parsed might be an
 * excluded one; without excluded commands, every command is confined.
 */
export function runsConfined(
  subject: CallSubject,
  input: Readonly<Record<string, unknown>>,
  plan: SandboxPlan,
): boolean {
  const { shell } = subject;
  if (subject.tool !== "Bash" || shell === undefined || plan.mode === "off") return false;
  const escape = input["dangerouslyDisableSandbox"];
  if (escape !== undefined && escape !== false) return false;
  if (plan.excludedCommands.length === 0) return true;
  if (shell.unclear.length > 0) return false;
  const call = prepareCall(subject);
  return !plan.excludedCommands.some((pattern) => hitBy(parseRule(`Bash(${pattern})`), call) !== undefined);
}

/** Process information; for the agent's own process, it includes the token for the model. */
const OF_PROCESSES = "/proc";

function beyondReading(place: NamedPath, plan: SandboxPlan, readable: readonly string[]): LimitDenial | undefined {
  const paths = [place.named, place.real];
  if (plan.mode !== "off" && paths.some((path) => isInside(path, OF_PROCESSES)))
    return denial("read", `${place.named} contains process information, which the sandbox hides from the agent.`);
  if (readable.some((directory) => isInside(place.real, directory))) return undefined;
  if (paths.some((path) => isHidden(path, plan)))
    return denial(
      "read",
      `${place.named} is hidden from this session. To show it, add it to allow_read in environment.sandbox.`,
    );
  if (!paths.some((path) => isKeptFrom(path, plan))) return undefined;
  return denial(
    "read",
    `${place.named} may contain credentials, so it is hidden from this session. To show it, add this file to allow_read in environment.sandbox of your user settings.`,
  );
}

function beyondSearching({ named, real }: NamedPath, plan: SandboxPlan): LimitDenial | undefined {
  const reached = plan.denyRead.find(
    (path) => [named, real].some((root) => isInside(path, root)) && !isWhollyHidden(path, plan),
  );
  if (reached === undefined) return undefined;
  return denial("read", `A search in ${named} would reach ${reached}, which is hidden. Search a directory below it.`);
}

function beyondWriting(place: NamedPath, plan: SandboxPlan, subject: CallSubject): LimitDenial | undefined {
  const { named, real } = place;
  const paths = [named, real];
  if (paths.some((path) => plan.denyWrite.some((denied) => isInside(path, denied))))
    return denial(
      "write",
      `${named} cannot be changed: it is in deny_write, in a read-only mount or in the repository of a worktree.`,
    );
  if (paths.some((path) => isKeptFrom(path, plan)))
    return denial("write", `${named} is hidden from this session, so it cannot be changed either.`);
  if (plan.mode === "off") return undefined;
  if (!isWritable(real, plan))
    return denial(
      "write",
      `${named} is outside the workspace. To allow it, add it to allow_write in environment.sandbox.`,
    );
  const row = rowOfPath(named, subject) ?? rowOfPath(real, subject);
  if (row !== undefined || paths.some((path) => plan.configuration.some((kept) => isInside(path, kept))))
    return denial(
      "write",
      `${named} is configuration of ${row?.readBy ?? "Capstan"}, which is read-only in the sandbox.`,
    );
  if (!paths.some(runsElsewhere)) return undefined;
  return denial("write", `${named} is run or trusted by programs outside the sandbox, so it cannot be changed.`);
}

/**
 * Same as in the sandbox of commands: files written there take effect when a person, an editor or a shell uses the
 * directory.
 */
export const ELSEWHERE_DIRECTORIES: readonly string[] = [".git", ".claude", ".vscode", ".idea"];
export const ELSEWHERE_FILES: readonly string[] = [
  ".gitconfig",
  ".gitmodules",
  ".bashrc",
  ".bash_profile",
  ".zshrc",
  ".zprofile",
  ".profile",
  ".ripgreprc",
  ".mcp.json",
];

function runsElsewhere(path: string): boolean {
  // A file system may treat `.GIT` as the same directory.
  const names = path.toLowerCase().split("/");
  return names.some((name) => ELSEWHERE_DIRECTORIES.includes(name)) || ELSEWHERE_FILES.includes(names.at(-1) ?? "");
}

function beyondNetwork({ domain }: CallSubject, { mode, domains }: SandboxPlan): LimitDenial | undefined {
  if (mode === "off") return undefined;
  if (domain !== undefined && domains.some((allowed) => covers(allowed, domain))) return undefined;
  const where = domain ?? "An address without a host";
  return denial("network", `${where} is not in network.allow of environment.sandbox, so it cannot be reached.`);
}

function covers(allowed: string, domain: string): boolean {
  return allowed.startsWith("*.") ? domain.endsWith(allowed.slice(1)) : domain === allowed;
}

function denial(what: "read" | "write" | "network", reason: string): LimitDenial {
  return { decidedBy: `sandbox:${what}`, reason };
}
