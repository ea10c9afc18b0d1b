import type { Options } from "@anthropic-ai/claude-agent-sdk";
import type { EngineRequest } from "../../core/ports/engine.ts";
import { PLUGIN, skillsDirectory } from "../skills.ts";

/** How the CLI is told of them. Those that it has itself are not offered. */
export function skillOptions(request: Pick<EngineRequest, "agent" | "stateDir">): Pick<Options, "plugins" | "skills"> {
  const path = skillsDirectory(request);
  if (path === undefined) return {};
  const names = Object.keys(request.agent.skills ?? {}).map((name) => `${PLUGIN}:${name}`);
  return { plugins: [{ type: "local", path, skipMcpDiscovery: true }], skills: names };
}
