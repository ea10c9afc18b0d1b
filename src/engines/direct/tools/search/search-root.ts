import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import type { AgentDefinition } from "../../../../core/agent/agent-definition.ts";
import { isInside } from "../../../../core/paths/is-inside.ts";
import { prepareCall, restrictedBy } from "../../../../core/permission/match-call.ts";
import { agentRules } from "../../../../core/permission/rule-set.ts";
import { isHidden, isKeptFrom, type SandboxPlan } from "../../../../core/environment/sandbox.ts";
import type { Confinement } from "../../../../sandbox/support.ts";
import type { BuiltinCall, ToolDirectories } from "../builtin-tool.ts";
import { permittedPath, requireOrdinary, ToolFailure } from "../files/open-file.ts";

export interface SearchParts {
  readonly place: ToolDirectories;
  readonly agent: Pick<AgentDefinition, "permissions" | "mcp_servers">;
  readonly sandbox?: SandboxPlan | undefined;
  /** The sandbox of the session's commands. */
  readonly confinement?: Confinement | undefined;
}

/** Where a search starts: a directory, or one file in it. */
export interface SearchRoot {
  readonly directory: string;
  readonly file?: string;
}

/** The permitted path. Throws `missing` if it does not exist. */
export function searchRoot(call: BuiltinCall, named: string, missing: (path: string) => string): SearchRoot {
  const real = permittedPath(call, "read");
  requireOrdinary(real, named);
  const stats = lstatSync(real, { throwIfNoEntry: false });
  if (stats === undefined) throw new ToolFailure(missing(named));
  if (stats.isSymbolicLink() || realpathSync(real) !== real)
    throw new ToolFailure(
      `${named} changed after this call was permitted: it now leads elsewhere. Make the call again.`,
    );
  if (stats.isDirectory()) return { directory: real };
  if (stats.isFile()) return { directory: join(real, ".."), file: real.slice(real.lastIndexOf("/") + 1) };
  throw new ToolFailure(`${named} is neither a file nor a directory.`);
}

/**
 * Returns a filter for the files that a search may show. A person may have allowed a search that reaches further than a
 * rule or the environment allows; denied files are still left out. `content` checks whether the content may be shown,
 * not only the name.
 */
export function readableFiles({ agent, sandbox, place }: SearchParts, content: boolean): (path: string) => boolean {
  const denials = agentRules(agent).deny.filter(({ kind }) => kind === "path");
  const [workspace, home] = [realpathSync(place.cwd), homedir()];
  return (path) => {
    if (isInside(path, "/proc") || !isPlain(path)) return false;
    if (sandbox !== undefined && (content ? isKeptFrom(path, sandbox) : isHidden(path, sandbox))) return false;
    if (denials.length === 0) return true;
    const paths = [{ named: path, real: path, access: "read" as const }];
    const call = prepareCall({ tool: "Read", paths, inside: isInside(path, workspace), workspace, home });
    return !denials.some((rule) => restrictedBy(rule, call)?.isSure === true);
  };
}

/** Whether no link has replaced part of the path since the search started. */
function isPlain(path: string): boolean {
  try {
    return realpathSync(path) === path;
  } catch {
    // Removed in the meantime.
    return false;
  }
}

/** The path as shown to the model: relative in the workspace, absolute elsewhere. */
export function pathForModel(path: string, cwd: string): string {
  const real = realpathSync(cwd);
  return isInside(path, real) ? relative(real, path) || path : path;
}

/** ripgrep prints paths relative to its directory. */
export function wholePath(directory: string, name: string): string {
  return isAbsolute(name) ? name : join(directory, name);
}
