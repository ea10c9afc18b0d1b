import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { query, startup, type Options, type Query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { uuidOf } from "../../core/clock.ts";
import type { Engine, EngineHost, EngineRequest, EngineSession } from "../../core/engine.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { Tool, ToolOutcome } from "../../core/tool.ts";
import { Announcements } from "./announcements.ts";
import { gate } from "./hooks.ts";
import { InputQueue } from "./input-queue.ts";
import { Leftovers } from "./leftovers.ts";
import { type ClaudeSettings, requireDirectory, sdkOptions, toolNames } from "./options.ts";
import { CliProcess, describeLoss, findContainment } from "./process.ts";
import { ClaudeSession } from "./session.ts";
import { HOST_SERVER } from "./tool-names.ts";
import { reconcile, usageBaseline } from "./transcript.ts";
import { startTranslator } from "./translation.ts";

/** Makes the in-process MCP server that carries the host's tools; one for each process, as instances cannot be shared. */
export type ToolServerFactory = (options: {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly run: (tool: Tool, input: unknown, call: { callId: string; signal: AbortSignal }) => Promise<ToolOutcome>;
}) => Promise<McpServer>;

/** Milliseconds until the longest timer ends: a tool of the host may wait for a person. */
const TOOL_TIMEOUT_MS = 2_147_483_647;

export function claudeEngine(
  settings: ClaudeSettings,
  { createToolServer }: { createToolServer: ToolServerFactory },
): Engine {
  const { version } = sdkManifest();
  const wrapper = findContainment();

  return { name: "claude", version, validate, open };

  async function open(request: EngineRequest, host: EngineHost): Promise<EngineSession> {
    requireDirectory(request.cwd);
    const { resume, history, baseline } = await agreeOnHistory(request);
    const leftovers = new Leftovers(request.stateDir);
    const process = new CliProcess({ wrapper, leftovers });
    const announcements = new Announcements(callsIn(request));
    const options: Options = {
      ...sdkOptions(request, settings, { resume, tempDir: leftovers.temporaryDirectory() }),
      hooks: gate(host, { tools: request.tools, announced: (id, signal) => announcements.wait(id, signal) }),
      mcpServers: await hostTools(request, host, createToolServer),
      spawnClaudeCodeProcess: (spawnOptions) => process.spawn(spawnOptions),
    };
    const input = new InputQueue<SDKUserMessage>();
    const started = await start(options, { input, continueTurn: request.continueTurn }).catch((thrown: unknown) => {
      process.kill();
      leftovers.sweep();
      throw startFailure(thrown, process.stderr);
    });
    const translator = startTranslator({
      sessionId: request.sessionId,
      instructions: request.agent.instructions,
      wantsOutput: request.agent.output_schema !== undefined,
      newId: () => host.newEventId(),
      totals: baseline,
      agentOfCall: new Map(
        request.subagents.map(({ callId, engineAgentId, name }) => [callId, { id: engineAgentId, name }]),
      ),
    });
    return new ClaudeSession({
      query: started,
      process,
      leftovers,
      input,
      host,
      announcements,
      translator,
      history,
      contained: wrapper !== undefined,
      working: request.continueTurn,
    });
  }

  /** Makes the CLI's transcript agree with the log before a process reads it. */
  async function agreeOnHistory(
    request: EngineRequest,
  ): Promise<{ resume: boolean; history: EngineSession["history"]; baseline: ReturnType<typeof usageBaseline> }> {
    const { sessionId, transcripts } = request;
    const stored = await transcripts.load(sessionId, "");
    const { entries, agrees } = reconcile(stored, {
      history: request.history,
      sessionUuid: uuidOf(sessionId),
      cwd: request.cwd,
      version,
    });
    if (!agrees) await transcripts.replace(sessionId, "", entries);
    const resume = entries.some((entry) => entry.type === "user" || entry.type === "assistant");
    return { resume, history: !agrees ? "reseeded" : resume ? "resumed" : "new", baseline: usageBaseline(entries) };
  }
}

function validate(request: Pick<EngineRequest, "agent" | "cwd" | "tools">): void {
  requireDirectory(request.cwd);
  toolNames(request);
}

/** A process ready for the first message; one that continues a turn starts working at once instead. */
async function start(
  options: Options,
  { input, continueTurn }: { input: InputQueue<SDKUserMessage>; continueTurn: boolean },
): Promise<Query> {
  if (continueTurn) {
    const working = query({ prompt: input, options });
    await working.initializationResult();
    return working;
  }
  const warm = await startup({ options });
  return warm.query(input);
}

async function hostTools(
  request: EngineRequest,
  host: EngineHost,
  createToolServer: ToolServerFactory,
): Promise<NonNullable<Options["mcpServers"]>> {
  if (request.tools.length === 0) return {};
  const instance = await createToolServer({
    name: HOST_SERVER,
    tools: request.tools,
    run: (tool, input, { callId, signal }) => host.execute({ tool, callId, input }, signal),
  });
  return { [HOST_SERVER]: { type: "sdk", name: HOST_SERVER, instance, timeout: TOOL_TIMEOUT_MS } };
}

/** Calls that were announced by an earlier process: a continued turn may ask about them again. */
function callsIn({ history }: EngineRequest): string[] {
  return history.flatMap((item) =>
    item.kind === "model" ? item.blocks.flatMap((block) => (block.kind === "call" ? [block.callId] : [])) : [],
  );
}

function startFailure(thrown: unknown, stderr: string): CapstanError {
  const loss = describeLoss(thrown, stderr);
  if (loss.code === "engine_missing") return loss;
  return new CapstanError(
    "engine_failed",
    [`The agent process could not start: ${messageOf(thrown)}`, stderr].join("\n").trim(),
    {
      cause: thrown,
      data: { stderr },
    },
  );
}

/** The versions of the SDK and of its CLI; the package does not let its manifest be imported. */
export function sdkManifest(): { readonly version: string; readonly claudeCodeVersion: string } {
  const entry = createRequire(import.meta.url).resolve("@anthropic-ai/claude-agent-sdk");
  const manifest = readFileSync(join(dirname(entry), "package.json"), "utf8");
  return JSON.parse(manifest) as { version: string; claudeCodeVersion: string };
}
