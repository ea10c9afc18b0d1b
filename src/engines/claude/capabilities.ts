import type { EngineCapabilities } from "../../core/ports/engine-capabilities.ts";

/** The CLI is given the size of a window, and summarises when so many tokens of it are left. */
export const COMPACTION_ROOM = 33_000;
/** The sizes of a window that the CLI takes. */
const WINDOW = { least: 100_000, most: 1_000_000 };

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
