import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { isInside } from "../../core/paths/is-inside.ts";
import { realPath } from "../paths/real-path.ts";

/** Files in which people describe a project for agents; the first that exists counts. */
const NAMES = ["CLAUDE.md", ".claude/CLAUDE.md"];
/** A limit, because every request contains the file. */
const MAX_BYTES = 65_536;

export interface AgentInDirectory {
  readonly agent: AgentDefinition;
  /** The event about the file; none when there is no file. */
  readonly facts: readonly EventDraft<"capstan.project_file_found">[];
}

/**
 * The agent with the workspace's CLAUDE.md in its instructions, if the agent asks for it. The host reads the file once
 * for the whole session: an engine would also read settings there, with commands that nobody decides about.
 */
export function withProjectFile(agent: AgentDefinition, cwd: string): AgentInDirectory {
  const used = agent.setting_sources?.includes("project") === true;
  for (const path of NAMES) {
    using file = open(realPath(join(cwd, path)));
    if (file === undefined) continue;
    const fact = { type: "capstan.project_file_found", path, used, bytes: file.bytes } as const;
    if (!used) return { agent, facts: [fact] };
    if (!isInside(file.path, realPath(cwd)))
      throw refusal("workspace_invalid", `${path} leads out of the workspace. Put the file itself there`);
    if (file.bytes > MAX_BYTES)
      throw refusal("too_large", `${path} has ${file.bytes} bytes, and may have ${MAX_BYTES}. Make it shorter`);
    const told = `The file ${path} of the workspace says:\n\n${file.text().trim()}`;
    const instructions = [agent.instructions, told].filter((part) => part !== "").join("\n\n");
    return { agent: { ...agent, instructions }, facts: [fact] };
  }
  return { agent, facts: [] };
}

function refusal(code: "workspace_invalid" | "too_large", problem: string): CapstanError {
  return new CapstanError(code, `setting_sources: ${problem}, or leave setting_sources out.`);
}

interface OpenFile extends Disposable {
  readonly path: string;
  readonly bytes: number;
  text(): string;
}

/** Undefined when there is no such file, or this user may not read it. */
function open(path: string): OpenFile | undefined {
  let descriptor: number;
  try {
    // Does not block on a named pipe.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  const stats = fstatSync(descriptor);
  const close = (): void => closeSync(descriptor);
  if (stats.isFile())
    return { path, bytes: stats.size, text: () => readFileSync(descriptor, "utf8"), [Symbol.dispose]: close };
  close();
  return undefined;
}
