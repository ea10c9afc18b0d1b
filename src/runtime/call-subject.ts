import { lstatSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { isInside } from "../core/inside.ts";
import type { CallSubject, Place } from "../core/permission/subject.ts";
import { realPath } from "./real-path.ts";
import type { SessionParts } from "./session-deps.ts";
import { shellSubject } from "./shell/shell-subject.ts";

export interface CalledTool {
  /** The tool's name as rules have it. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The tool is the engine's own and not the host's or a server's, whose input may mean anything. Default: true. */
  readonly engineTool?: boolean;
}

export interface Surroundings {
  /** Where the session works: its workspace. */
  readonly cwd: string;
  /** What `~` stands for in rules. */
  readonly home: string;
}

/** The fields that name a path, and what the tool does there. */
const PATH_FIELDS: Readonly<Record<string, readonly [field: string, access: "read" | "write"]>> = {
  Read: ["file_path", "read"],
  Write: ["file_path", "write"],
  Edit: ["file_path", "write"],
  NotebookEdit: ["notebook_path", "write"],
};
const SEARCHES = ["Glob", "Grep"];
/** Where any other tool names a path, if it does; rules for paths do not speak of such tools. */
const USUAL_FIELDS = ["file_path", "path", "notebook_path"];

/** What a call of a session is about. */
export function sessionSubject(
  { tool, input }: Pick<CalledTool, "tool" | "input">,
  { record, home, tools }: Pick<SessionParts, "record" | "home" | "tools">,
): CallSubject {
  const engineTool = !tools.some(({ name }) => name === tool);
  return subjectOf({ tool, input, engineTool }, { cwd: record.cwd, home });
}

/** What a tool call is about. Looks at the file system, so that a decision on what it returns need not. */
export function subjectOf({ tool, input, engineTool = true }: CalledTool, { cwd, home }: Surroundings): CallSubject {
  const names = new Names(cwd, home);
  const text = (field: string): string | undefined => (typeof input[field] === "string" ? input[field] : undefined);
  const none = { tool, paths: [], inside: true, workspace: names.workspace, home: names.home } satisfies CallSubject;
  if (!engineTool) return other();
  const [field, access] = PATH_FIELDS[tool] ?? [];
  if (field !== undefined && access !== undefined) {
    const places = names.places(text(field));
    return { ...none, paths: places.map((place) => ({ ...place, access })), inside: names.areInside(places) };
  }
  if (SEARCHES.includes(tool)) {
    const places = names.searched(text("path"), tool === "Glob" ? text("pattern") : undefined);
    const paths = places.map((place) => ({ ...place, access: "read" as const }));
    return { ...none, paths, search: true, inside: names.areInside(places) };
  }
  if (tool === "Bash") {
    const command = text("command");
    if (command === undefined) return { ...none, inside: false };
    const shell = shellSubject(command, names);
    const places = [...shell.writes, ...shell.reads].flatMap((redirection) => redirection.places);
    const isKnown =
      shell.unclear.length === 0 && [...shell.writes, ...shell.reads].every((one) => one.places.length > 0);
    return { ...none, shell, inside: isKnown && names.areInside([...places, ...shell.mentions]) };
  }
  if (tool === "WebFetch") {
    const domain = URL.parse(text("url") ?? "")
      ?.hostname.toLowerCase()
      .replace(/\.$/, "");
    return { ...none, ...(domain && { domain }) };
  }
  if (tool === "Agent") {
    const subagent = text("subagent_type");
    return { ...none, ...(subagent !== undefined && { subagent }) };
  }
  if (tool === "Skill") {
    const skill = text("skill");
    return { ...none, ...(skill !== undefined && { skill: skillName(skill) }) };
  }
  return other();

  function other(): CallSubject {
    const [, server = "", name = ""] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
    const places = USUAL_FIELDS.flatMap((usual) => names.places(text(usual)));
    return { ...none, inside: names.areInside(places), ...(server !== "" && { mcp: { server, tool: name } }) };
  }
}

/** An engine may put something before a skill's name, such as where it comes from: `agent:greeting`. */
function skillName(written: string): string {
  return written
    .trim()
    .toLowerCase()
    .replace(/^.*[:/]/s, "");
}

/** Names of files as one session's tools understand them. */
export class Names {
  readonly workspace: string;
  readonly home: string;
  readonly #cwd: string;

  constructor(cwd: string, home: string) {
    this.#cwd = resolve(cwd);
    this.workspace = realPath(this.#cwd);
    this.home = realPath(resolve(home));
  }

  /** Where a name leads: one place, or two where `..` follows a link and not all readers go back the same way. */
  places(name: string | undefined, base = this.workspace): Place[] {
    if (name === undefined || name === "") return [];
    const written = name.replace(/^~(?=\/|$)/, () => this.home);
    const unresolved = isAbsolute(written) ? this.#withoutLinkTo(written) : `${base}/${written}`;
    const named = resolve(unresolved);
    const reals = new Set([realPath(named), realPath(unresolved, this.workspace)]);
    return [...reals].map((real) => ({ named, real }));
  }

  /** The workspace may itself be known under a name with links. */
  #withoutLinkTo(path: string): string {
    return isInside(path, this.#cwd) ? this.workspace + path.slice(this.#cwd.length) : path;
  }

  /** The directory that a search begins in. A pattern may lead elsewhere by itself. */
  searched(path: string | undefined, pattern = ""): Place[] {
    const roots = path === undefined || path === "" ? this.places(".") : this.places(path);
    const climbs = pattern.split(/[/{},]/).includes("..");
    const start = isAbsolute(pattern) || pattern.startsWith("~") ? (/^[^*?[{]*(?=\/|$)/.exec(pattern)?.[0] ?? "/") : "";
    if (climbs) return [...roots, ...this.places("/")];
    return start === "" && !isAbsolute(pattern) ? roots : [...roots, ...this.places(start || "/")];
  }

  areInside(places: readonly Place[]): boolean {
    return places.every(({ real }) => isInside(real, this.workspace));
  }

  exists(name: string, base: string): boolean {
    try {
      return lstatSync(resolve(base, name), { throwIfNoEntry: false }) !== undefined;
    } catch {
      return false;
    }
  }
}
