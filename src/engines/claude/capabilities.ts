import type { EngineCapabilities } from "../../core/ports/engine-capabilities.ts";

/** The CLI receives a window size and compacts when this many tokens are left. */
export const COMPACTION_ROOM = 33_000;
/** The window sizes that the CLI accepts. */
const WINDOW = { least: 100_000, most: 1_000_000 };

/** test/contract/engine tests each line, and docs/engines.md lists them. */
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
  compact_at: { least: WINDOW.least - COMPACTION_ROOM, most: WINDOW.most - COMPACTION_ROOM },
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
