import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { AgentDefinition as SdkAgent, Options } from "@anthropic-ai/claude-agent-sdk";
import type { Mode } from "../../core/agent/agent-definition.ts";
import type { EngineRequest } from "../../core/ports/engine.ts";
import { BUILTIN_NAMES, PLAN_EXIT } from "../builtin-tools.ts";
import { unknownToolsError } from "../rule-tools.ts";
import { COMPACTION_ROOM } from "./capabilities.ts";
import { sandboxSettings } from "./sandbox.ts";
import { SKILL_TOOL, skillsDirectory } from "../skills.ts";
import { skillOptions } from "./skills.ts";
import { hostToolName, readToolName } from "../tool-names.ts";
import { sessionStoreFor, transcriptPath, transcriptUuid } from "./transcript-store.ts";

type SdkSettings = Exclude<NonNullable<Options["settings"]>, string>;

/** Settings shared by all sessions of an engine. */
export interface ClaudeSettings {
  /** Search path for the agent's commands and servers. */
  readonly path: string;
  /** How often the CLI retries a failed model request. Waits start at half a second and double. */
  readonly retries: number;
}

/** Converts our request to SDK options. The caller adds hooks, MCP servers and spawn. */
export function sdkOptions(
  request: EngineRequest,
  settings: ClaudeSettings,
  {
    resume,
    tempDir,
    shellDirectory,
    confined = false,
  }: { resume: boolean; tempDir: string; shellDirectory: string; confined?: boolean },
): Options & { readonly settings: SdkSettings } {
  const { agent, sessionId, line } = request;
  const own = line && agent.subagents[line.name];
  const uuid = transcriptUuid(request);
  const agents = subagents(request);
  return {
    cwd: request.cwd,
    model: request.model,
    systemPrompt: own?.instructions ?? systemPrompt(agent),
    ...modelOptions(request),
    // Only the PreToolUse hook decides permission; this mode only ensures that the CLI allows nothing without it.
    permissionMode: permissionModeFor(request.mode),
    tools: [...toolNames(request), ...(request.mode === "plan" ? [PLAN_EXIT] : [])],
    agents,
    env: childEnvironment(request, settings, tempDir),
    ...skillOptions(request),
    settingSources: [],
    settings: {
      // Disables hooks from settings files and skills, which would run commands without asking the host. Our own hooks
      // still run.
      disableAllHooks: true,
      disableSkillShellExecution: true,
      // Memory would last for only one process, and its directory would appear in the prompt.
      autoMemoryEnabled: false,
      skipWebFetchPreflight: true,
      ...(agent.compact_at !== undefined && { autoCompactWindow: agent.compact_at + COMPACTION_ROOM }),
      ...sandboxSettings(request.sandbox, {
        confined,
        readable: [tempDir, shellDirectory, skillsDirectory(request) ?? []].flat(),
      }),
    },
    strictMcpConfig: true,
    // Subagents never stream, whether they run in their agent's process or alone.
    includePartialMessages: line === undefined,
    forwardSubagentText: true,
    sessionStore: sessionStoreFor(sessionId, request.transcripts, transcriptPath(request)),
    sessionStoreFlush: "eager",
    ...(resume ? { resume: uuid } : { sessionId: uuid }),
    ...(line === undefined && agent.output_schema !== undefined && { outputFormat: outputFormat(agent.output_schema) }),
    ...(line === undefined && agent.budget.steps !== undefined && { maxTurns: agent.budget.steps }),
    ...(agent.budget.usd !== undefined && { maxBudgetUsd: agent.budget.usd }),
    extraArgs: {
      // Without this, a resumed process may run a pending call before our hooks are registered.
      "await-initialize": null,
      // A turn continued after a crash knows subagents only from the command line.
      ...(Object.keys(agents).length > 0 && { agents: JSON.stringify(agents) }),
    },
  };
}

/**
 * The instructions, alone or appended to Claude Code's own prompt. The parts of that prompt that vary (directory, git
 * status, date) are sent with the first message instead, so that all sessions of an agent share one prompt.
 */
function systemPrompt({ instructions, instructions_mode: mode }: EngineRequest["agent"]): Options["systemPrompt"] {
  if (mode !== "append") return instructions;
  return { type: "preset", preset: "claude_code", append: instructions, excludeDynamicSections: true };
}

function modelOptions({
  agent: { effort, thinking, fallback_model: fallback },
  model,
}: EngineRequest): Pick<Options, "effort" | "thinking" | "fallbackModel"> {
  return {
    ...(effort !== undefined && { effort }),
    ...(thinking !== undefined && {
      thinking:
        typeof thinking === "object" ? { type: "enabled", budgetTokens: thinking.budget_tokens } : { type: thinking },
    }),
    // The user may have chosen the fallback as the session's model; the SDK refuses a model that is its own fallback.
    ...(fallback !== undefined && fallback !== model && { fallbackModel: fallback }),
  };
}

/** The CLI's validator refuses to start when a schema names its dialect. */
function outputFormat({ $schema: _dialect, ...schema }: Record<string, unknown>): Options["outputFormat"] {
  return { type: "json_schema", schema };
}

export function permissionModeFor(mode: Mode): "default" | "plan" {
  return mode === "plan" ? "plan" : "default";
}

/** Every tool that any thread of the session may have. Each call decides whether its thread may use the tool. */
export function toolNames(request: Pick<EngineRequest, "agent" | "tools">): string[] {
  const { tools, subagents, skills = {} } = request.agent;
  const wanted = [...tools, ...Object.values(subagents).flatMap((subagent) => subagent.tools ?? [])];
  const hostTools = request.tools.map((tool) => tool.name);
  const servers = Object.keys(request.agent.mcp_servers ?? {});
  const ofServer = (tool: string): boolean => {
    const name = readToolName(tool);
    return name.kind === "mcp" && servers.includes(name.server);
  };
  const reading = Object.keys(skills).length > 0 ? [SKILL_TOOL] : [];
  const known = [...BUILTIN_NAMES, ...reading, ...hostTools];
  const unknown = wanted.filter((tool) => !known.includes(tool) && !ofServer(tool));
  if (unknown.length > 0) throw unknownToolsError(unknown, known);
  const delegation = Object.keys(subagents).length > 0 ? ["Agent", "SendMessage"] : [];
  return [...new Set([...wanted, ...delegation, ...reading])].filter(
    (tool) => !hostTools.includes(tool) && !ofServer(tool),
  );
}

function subagents({ agent, tools: hostTools }: EngineRequest): Record<string, SdkAgent> {
  const engineName = (tool: string): string =>
    hostTools.some(({ name }) => name === tool) ? hostToolName(tool) : tool;
  return Object.fromEntries(
    Object.entries(agent.subagents).map(([name, { description, instructions, tools, model }]) => [
      name,
      {
        description,
        prompt: instructions,
        ...(tools && { tools: tools.map(engineName) }),
        ...(model !== undefined && { model }),
      },
    ]),
  );
}

/** The CLI switches to the fallback model after this many failures; with fewer retries it never would. */
const RETRIES_BEFORE_FALLBACK = 2;

/**
 * The CLI's environment, built from scratch: only these variables. The session's variables are for its commands alone,
 * and the gateway's address and token are in the settings.
 */
function childEnvironment(request: EngineRequest, settings: ClaudeSettings, tempDir: string): Record<string, string> {
  const directory = (name: string): string => {
    const path = join(request.stateDir, name);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };
  const { fallback_model: fallback } = request.agent;
  const retries = fallback === undefined ? settings.retries : Math.max(settings.retries, RETRIES_BEFORE_FALLBACK);
  return {
    PATH: settings.path,
    LANG: "C.UTF-8",
    HOME: directory("home"),
    TMPDIR: tempDir,
    // Tells `capstan trust` that an agent started it.
    CAPSTAN_SESSION: request.sessionId,
    CLAUDE_CONFIG_DIR: directory("config"),
    CLAUDE_CODE_TMPDIR: tempDir,
    // Keeps the CLI's first-party behavior behind the gateway. This is internal to the CLI, which is one reason to pin
    // the SDK version.
    _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
    // Every call starts in the workspace, as rules assume: otherwise `cd` in one command would change the paths of the
    // next.
    CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR: "1",
    CLAUDE_CODE_MAX_RETRIES: String(retries),
    // The CLI starts each prompt with a line that differs in every request. Only a subscription may need it.
    ...(request.gateway.billing !== "included" && { CLAUDE_CODE_ATTRIBUTION_HEADER: "0" }),
    ...(request.gateway.isPlain === true && { CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: "1" }),
    // All tools are listed from the start; otherwise the CLI would add a tool that searches for deferred ones.
    ENABLE_TOOL_SEARCH: "0",
    DISABLE_AUTOUPDATER: "1",
    ...(request.start.kind === "continue" && {
      CLAUDE_CODE_RESUME_INTERRUPTED_TURN: "1",
      CLAUDE_CODE_RESUME_SHOWS_CUT_OFF_CALLS: "1",
    }),
  };
}
