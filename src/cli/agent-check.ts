import { requireHonoured as requireOfEngine } from "../app/agent-check.ts";
import type { ReadAgent } from "../config/agent-file.ts";
import type { Configuration } from "../config/load.ts";
import { CapstanError } from "../core/errors.ts";

/** Throws what the engine cannot honour of an agent file, with the place of the setting. */
export function requireHonoured({ agent, agentFile }: Pick<Configuration, "agent" | "agentFile">): void {
  try {
    requireOfEngine(agent);
  } catch (error) {
    throw placed(error, agentFile);
  }
}

/** An error that begins with the name of a field, told with the place of that. */
export function placed(error: unknown, agentFile: ReadAgent | undefined): unknown {
  if (!(error instanceof CapstanError) || error.code !== "invalid_agent" || agentFile === undefined) return error;
  const [, field = "", text] = /^([\w.-]+): ([\s\S]*)$/.exec(error.message) ?? [];
  return text === undefined ? error : agentFile.error(field.split("."), text);
}
