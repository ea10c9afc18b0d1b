import type { EngineCapabilities } from "../../core/engines/capabilities.ts";

/** test/contract/engine proves each line, and docs/engines.md shows them. */
export const claudeCapabilities: EngineCapabilities = {
  subagents: true,
  custom_tools: true,
  mcp_programs: true,
  mcp_remote: true,
  elicitation: true,
  questions: true,
  plan_mode: true,
  tasks: true,
  web_fetch: { note: "a small model reads the page first" },
  web_search: true,
  notebooks: true,
  shell_state: { lacks: "starts each command in the workspace, with the session's variables" },
  structured_output: true,
  compaction: true,
  model_switch: true,
  thinking: true,
  effort: true,
  fallback_model: true,
  skills: true,
  project_file: true,
  engine_prompt: { note: "Claude Code's own" },
  sandbox: true,
  process_limits: true,
  own_process: { note: "the Claude CLI" },
};
