import type { EngineCapabilities } from "../../core/ports/engine-capabilities.ts";

/** test/contract/engine tests each line, and docs/engines.md lists them. */
export const directCapabilities: EngineCapabilities = {
  subagents: true,
  custom_tools: true,
  mcp_programs: true,
  mcp_remote: true,
  elicitation: true,
  questions: true,
  plan_mode: true,
  tasks: true,
  web_fetch: { note: "the model reads the page itself" },
  web_search: true,
  notebooks: true,
  shell_state: true,
  structured_output: true,
  compaction: true,
  // The upper bound is where even the longest window is full.
  compact_at: { least: 10_000, most: 967_000 },
  model_switch: true,
  thinking: true,
  effort: true,
  fallback_model: true,
  skills: true,
  project_file: true,
  engine_prompt: { note: "a short one of Capstan's" },
  sandbox: { note: "without network, also where a list of hosts allows some, and with a read-only `.git`" },
  process_limits: true,
  own_process: { lacks: "runs in the host" },
};
