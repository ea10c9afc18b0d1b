import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import type { AgentDefinition } from "../../../../core/agent/agent-definition.ts";
import { isInside } from "../../../../core/paths/inside.ts";
import { callOf, restrictedBy } from "../../../../core/permission/match-call.ts";
import { agentRules } from "../../../../core/permission/rule-set.ts";
import { isHidden, isKeptFrom, type SandboxPlan } from "../../../../core/environment/sandbox.ts";
import type { Confinement } from "../../../../sandbox/support.ts";
import type { BuiltinCall, ToolPlace } from "../builtin-tool.ts";
import { permittedPlace, requireOrdinary, ToolFailure } from "../files/permitted.ts";

export interface SearchParts {
  readonly place: ToolPlace;
  readonly agent: Pick<AgentDefinition, "permissions" | "mcp_servers">;
  readonly sandbox?: SandboxPlan | undefined;
  /** What the commands of the session are confined with. */
  readonly confinement?: Confinement | undefined;
}

/** Where a search begins: a directory, or one file in it. */
export interface SearchRoot {
  readonly directory: string;
  readonly file?: string;
}

/** The permitted place. Throws `missing` when nothing is there. */
export function searchRoot(call: BuiltinCall, named: string, missing: (path: string) => string): SearchRoot {
  const real = permittedPlace(call, "read");
  requireOrdinary(real, named);
  const stats = lstatSync(real, { throwIfNoEntry: false });
  if (stats === undefined) throw new ToolFailure(missing(named));
  if (stats.isSymbolicLink() || realpathSync(real) !== real)
    throw new ToolFailure(`${named} leads somewhere else than when this call was permitted. Make the call again.`);
  if (stats.isDirectory()) return { directory: real };
  if (stats.isFile()) return { directory: join(real, ".."), file: real.slice(real.lastIndexOf("/") + 1) };
  throw new ToolFailure(`${named} is neither a file nor a directory.`);
}

/**
 * Says which files of a search may be shown. A person may have let a search through that reaches further than a rule or
 * the environment lets the agent read: what those deny is left out all the same. `content` asks about what is in a file,
 * and not only about its name.
 */
export function shownFiles({ agent, sandbox, place }: SearchParts, content: boolean): (path: string) => boolean {
  const denials = agentRules(agent).deny.filter(({ kind }) => kind === "path");
  const [workspace, home] = [realpathSync(place.cwd), homedir()];
  return (path) => {
    if (isInside(path, "/proc") || !isPlain(path)) return false;
    if (sandbox !== undefined && (content ? isKeptFrom(path, sandbox) : isHidden(path, sandbox))) return false;
    if (denials.length === 0) return true;
    const paths = [{ named: path, real: path, access: "read" as const }];
    const call = callOf({ tool: "Read", paths, inside: isInside(path, workspace), workspace, home });
    return !denials.some((rule) => restrictedBy(rule, call)?.isSure === true);
  };
}

/** No link has been put in the way since the search began. */
function isPlain(path: string): boolean {
  try {
    return realpathSync(path) === path;
  } catch {
    // Removed meanwhile.
    return false;
  }
}

/** As the model is told of it: relative in the workspace, absolute elsewhere. */
export function shownPath(path: string, cwd: string): string {
  const real = realpathSync(cwd);
  return isInside(path, real) ? relative(real, path) || path : path;
}

/** ripgrep's names are relative to where it runs. */
export function wholePath(directory: string, name: string): string {
  return isAbsolute(name) ? name : join(directory, name);
}
