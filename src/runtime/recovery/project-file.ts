import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { isInside } from "../../core/paths/inside.ts";
import { realPath } from "../paths/real-path.ts";

/** Where people write down what an agent should know of a project; the first that is there. */
const NAMES = ["CLAUDE.md", ".claude/CLAUDE.md"];
/** Every request carries it. */
const MAX_BYTES = 65_536;

export interface AgentInPlace {
  readonly agent: AgentDefinition;
  /** What the log says of the file; nothing when there is none. */
  readonly facts: readonly EventDraft<"capstan.project_file_found">[];
}

/**
 * The agent with the workspace's CLAUDE.md in its instructions, when it wants that. The host reads it, once, for the
 * whole session: an engine that reads it would also take settings from there, with commands that nobody decides about.
 */
export function withProjectFile(agent: AgentDefinition, cwd: string): AgentInPlace {
  const used = agent.setting_sources?.includes("project") === true;
  for (const path of NAMES) {
    using file = open(realPath(join(cwd, path)));
    if (file === undefined) continue;
    const fact = { type: "capstan.project_file_found", path, used, bytes: file.bytes } as const;
    if (!used) return { agent, facts: [fact] };
    if (!isInside(file.path, realPath(cwd)))
      throw refused("workspace_invalid", `${path} leads out of the workspace. Put the file itself there`);
    if (file.bytes > MAX_BYTES)
      throw refused("too_large", `${path} has ${file.bytes} bytes, and may have ${MAX_BYTES}. Make it shorter`);
    const told = `The file ${path} of the workspace says:\n\n${file.text().trim()}`;
    const instructions = [agent.instructions, told].filter((part) => part !== "").join("\n\n");
    return { agent: { ...agent, instructions }, facts: [fact] };
  }
  return { agent, facts: [] };
}

function refused(code: "workspace_invalid" | "too_large", problem: string): CapstanError {
  return new CapstanError(code, `setting_sources: ${problem}, or leave setting_sources out.`);
}

interface OpenFile extends Disposable {
  readonly path: string;
  readonly bytes: number;
  text(): string;
}

/** Undefined when there is no such file: what this user may not read is not for the agent either. */
function open(path: string): OpenFile | undefined {
  let descriptor: number;
  try {
    // Nobody waits for the other end of a pipe of that name.
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
