import type { Options } from "@anthropic-ai/claude-agent-sdk";
import type { EngineRequest } from "../../core/ports/engine.ts";
import { PLUGIN, skillsDirectory } from "../skills.ts";

/** The SDK options for the agent's skills. The CLI's built-in skills are not offered. */
export function skillOptions(request: Pick<EngineRequest, "agent" | "stateDir">): Pick<Options, "plugins" | "skills"> {
  const path = skillsDirectory(request);
  if (path === undefined) return {};
  const names = Object.keys(request.agent.skills ?? {}).map((name) => `${PLUGIN}:${name}`);
  return { plugins: [{ type: "local", path, skipMcpDiscovery: true }], skills: names };
}
