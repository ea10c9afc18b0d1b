import { join } from "node:path";
import { GENERAL_SUBAGENT } from "../../core/rules/tool-names.ts";
import type { CallRequest } from "../../core/ports/engine.ts";
import type { CallSubject } from "../../core/rules/subject.ts";
import { FILE_FIELDS, fileInput, SEARCH_TOOLS } from "../paths/file-input.ts";
import { Names, type PathSurroundings } from "../paths/path-names.ts";
import { guardCall, guardedPaths } from "./guard-call.ts";
import type { SessionBasics, SessionSurroundings, ToolSettings } from "../session-deps.ts";
import { commandLine } from "./command-line.ts";
import { shellSubject } from "../shell/shell-subject.ts";

export interface CalledTool {
  /** The tool's name as used in rules. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The tool is built into the engine. The input of a host's or server's tool may mean anything. Default: true. */
  readonly engineTool?: boolean;
  /** Where a command starts, if not in the workspace. */
  readonly directory?: CallRequest["directory"];
}

/** Fields in which other tools may name a path. Path rules do not apply to such tools. */
const USUAL_FIELDS = ["file_path", "path", "notebook_path"];

type Called = Pick<CalledTool, "tool" | "input" | "directory">;
type Session = Pick<SessionBasics, "record"> & Pick<SessionSurroundings, "home"> & Pick<ToolSettings, "tools">;

/** Describes a session's tool call for the permission decision. */
export function sessionSubject(
  { tool, input, directory }: Called,
  session: Session & Pick<SessionSurroundings, "capstanHome" | "stateDir">,
): CallSubject {
  const { record, home, capstanHome, stateDir } = session;
  const { cwd, agent } = record;
  const engineTool = isEngineTool({ tool, input }, session);
  const call = { tool, input, engineTool, ...(directory !== undefined && { directory }) };
  const shellHome = join(stateDir, "home");
  const guarded = guardedPaths({ cwd, agent, capstanHome });
  return guardCall(subjectOf(call, { cwd, home, shellHome }), call, guarded);
}

/** The input that a session's call runs with: paths of file tools are normalized. */
export function callWithPaths<T extends Called>(call: T, session: Session): T {
  const { record, home } = session;
  if (!isEngineTool(call, session)) return call;
  const { input } = fileInput(call.tool, call.input, { cwd: record.cwd, home });
  return { ...call, input };
}

function isEngineTool({ tool }: Called, { tools }: Session): boolean {
  return !tools.some(({ name }) => name === tool);
}

/** Describes a tool call for the permission decision. Reads the file system, so that the decision itself need not. */
export function subjectOf(call: CalledTool, surroundings: PathSurroundings): CallSubject {
  const { tool, engineTool = true } = call;
  const { cwd, home, shellHome } = surroundings;
  const isCommand = tool === "Bash" && engineTool;
  const names = new Names({ cwd, home, ...(isCommand && { shellHome }) });
  const none = { tool, paths: [], inside: true, workspace: names.workspace, home: names.home } satisfies CallSubject;
  const { input, refused } = engineTool ? fileInput(tool, call.input, surroundings) : { input: call.input };
  if (refused !== undefined) return { ...none, refused, inside: false };
  const text = (field: string): string | undefined => (typeof input[field] === "string" ? input[field] : undefined);
  if (!engineTool) return other();
  const [field, access] = FILE_FIELDS[tool] ?? [];
  if (field !== undefined && access !== undefined) {
    const places = names.places(text(field));
    const inside = places.length > 0 && names.areInside(places);
    return { ...none, paths: places.map((place) => ({ ...place, access })), inside };
  }
  if (SEARCH_TOOLS.includes(tool)) {
    const places = names.places(text("path") ?? ".");
    const paths = places.map((place) => ({ ...place, access: "read" as const }));
    return { ...none, paths, search: true, inside: names.areInside(places) };
  }
  if (tool === "Bash") {
    const line = commandLine({ ...call, input });
    if (line === undefined) return { ...none, inside: false };
    const shell = shellSubject(line, names);
    const own = names.shellHome !== undefined && { shell_home: names.shellHome };
    const places = [...shell.writes, ...shell.reads].flatMap((redirection) => redirection.places);
    const isKnown =
      shell.unclear.length === 0 && [...shell.writes, ...shell.reads].every((one) => one.places.length > 0);
    return { ...none, ...own, shell, inside: isKnown && names.areInside([...places, ...shell.mentions]) };
  }
  if (tool === "WebFetch") {
    const domain = URL.parse(text("url") ?? "")
      ?.hostname.toLowerCase()
      .replace(/\.$/, "");
    return { ...none, ...(domain && { domain }) };
  }
  if (tool === "Agent") {
    return { ...none, subagent: text("subagent_type") ?? GENERAL_SUBAGENT };
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

/** An engine may prefix a skill's name, for example with its origin: `agent:greeting`. */
function skillName(written: string): string {
  return written
    .trim()
    .toLowerCase()
    .replace(/^.*[:/]/s, "");
}
