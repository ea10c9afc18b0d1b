import { join } from "node:path";
import type { Options, Query, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Engine, EngineHost, EngineRequest, EngineSession } from "../../core/ports/engine.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { belongsInSandbox, HOST_SERVER } from "../../core/agent/mcp-server-schema.ts";
import type { Tool, ToolOutcome } from "../../core/ports/tool.ts";
import { claudeCapabilities } from "./capabilities.ts";
import { CustomResults } from "./custom-results.ts";
import { forwardElicitation } from "../../mcp/elicitation.ts";
import { CallPermits } from "./granted-call.ts";
import { gate } from "./hooks.ts";
import { InputQueue } from "./input-queue.ts";
import { Leftovers } from "../../process/leftovers.ts";
import { type SpentSeconds, Watchdog } from "../../process/limits.ts";
import { coverOf } from "../../sandbox/confined-command.ts";
import type { RemoteServerFactory } from "../../mcp/remote-servers.ts";
import { openServers, type ProcessServers, requireServers, withServers } from "./mcp-servers.ts";
import { type ClaudeSettings, sdkOptions, toolNames } from "./options.ts";
import { requireDirectory } from "../require-directory.ts";
import { requireModelSettings } from "../model-traits.ts";
import { findContainment } from "../../process/containment.ts";
import { CliProcess, describeLoss } from "./process.ts";
import { requireKnownTools } from "../rule-tools.ts";
import { requireUsableSkills, skillsDirectory, writeSkills } from "../skills.ts";
import {
  answeredOnce,
  type Confinement,
  confinementOf,
  isConfined,
  requireSandbox,
  sandboxFinder,
  toldOfSandbox,
} from "../../sandbox/support.ts";
import { Stubs } from "../../sandbox/stubs.ts";
import { FailedOutputs } from "./results/failed-output.ts";
import { cliPath } from "./start/cli-path.ts";
import { writeProcessFiles } from "./start/process-files.ts";
import { StartSettings } from "./start/start-settings.ts";
import { type ClaudeSdk, pinnedSdk } from "./sdk/sdk.ts";
import { ClaudeSession } from "./session.ts";
import { reconcile, usageBaseline } from "./transcript.ts";
import { forgetLocalCopy, transcriptPath, transcriptUuid } from "./transcript-store.ts";
import { startTranslator } from "./sdk/translation.ts";
import { withWaitingCall } from "./waiting-call.ts";
import { Announcements } from "./waits/announcements.ts";
import { waitForAnswer } from "./waits/wait-for-answer.ts";

/** Creates the in-process MCP server that carries the host's tools. Each process needs its own instance. */
export type ToolServerFactory = (options: {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly run: (tool: Tool, input: unknown, call: { callId: string; signal: AbortSignal }) => Promise<ToolOutcome>;
}) => Promise<McpServer>;

/** Milliseconds. The agent's servers may have to be downloaded first, and have their own timeouts. */
const START_WITHIN_MS = 300_000;
/** The longest possible timer, in milliseconds: a host tool may wait for a person. */
const TOOL_TIMEOUT_MS = 2_147_483_647;

export function claudeEngine(
  settings: ClaudeSettings,
  {
    createToolServer,
    connectRemoteServer,
    sdk = pinnedSdk(),
  }: {
    createToolServer: ToolServerFactory;
    connectRemoteServer: RemoteServerFactory;
    /** Default: the version that Capstan pins. */
    sdk?: ClaudeSdk | undefined;
  },
): Engine {
  const { version } = sdk;
  // Not awaited here, because that would delay the first message.
  const containment = findContainment();
  const findSupport = sandboxFinder(settings.path);
  const spent: SpentSeconds = new Map();

  return { name: "claude", version, capabilities: claudeCapabilities, validate, open };

  function validate(request: Parameters<Engine["validate"]>[0]): void {
    requireDirectory(request.cwd);
    toolNames(request);
    requireKnownTools(request);
    requireModelSettings(request.agent);
    requireUsableSkills(request.agent);
    requireSandbox(request, findSupport);
  }

  async function open(request: EngineRequest, host: EngineHost): Promise<EngineSession> {
    requireDirectory(request.cwd);
    const support = answeredOnce(findSupport);
    requireSandbox(request, support);
    const confined = isConfined(request.sandbox, support);
    const confinement = confinementOf(request, support);
    const watchdog = new Watchdog({ limits: request.limits ?? {}, stateDir: request.stateDir, spent });
    watchdog.requireRoom();
    const { resume, history, baseline } = await agreeOnHistory(request);
    const leftovers = new Leftovers(request.stateDir);
    const wrapper = await containment;
    const process = new CliProcess({ wrapper, leftovers });
    const stubs = new Stubs(request);
    if (confined)
      stubs.expect({
        home: join(request.stateDir, "home"),
        covers: coversOf(request, confinement),
        configuration: request.sandbox?.configuration ?? [],
        gitDirectories: request.sandbox?.gitDirectories ?? [],
      });
    const tempDir = leftovers.temporaryDirectory();
    const files = writeProcessFiles(request, { path: settings.path, confined, leftovers });
    writeSkills(request);
    const customResults = new CustomResults(request.tools);
    const announcements = new Announcements(callsIn(request));
    const grants = new CallPermits(host, request.cwd);
    const plain = sdkOptions(
      request,
      { ...settings, path: cliPath(settings.path, { cwd: request.cwd, bwrap: confinement?.confine[0], files }) },
      { resume, tempDir, shellDirectory: files.shellDirectory, confined },
    );
    const startSettings = new StartSettings(files.directory, { settings: plain.settings, gateway: request.gateway });
    const options: Options = {
      ...plain,
      env: { ...plain.env, ...files.environment },
      settings: startSettings.file,
      hooks: {
        ...gate(grants, {
          tools: request.tools,
          waitForAnnouncement: (id, signal, agentId) => {
            startSettings.forget();
            return announcements.wait(id, signal, agentId);
          },
          oneCall: request.start.kind === "call",
          readable: () => [join(process.configDir, "projects"), tempDir, skillsDirectory(request) ?? []].flat(),
          confined,
        }),
        ...customResults.hooks(),
      },
      mcpServers: await hostTools(request, { host, createToolServer, customResults }),
      // Enables the tools that need a person. Denies everything that the hook left undecided.
      canUseTool: async (_tool, input, { toolUseID }) =>
        grants.wasAsked(toolUseID)
          ? { behavior: "allow", updatedInput: input }
          : { behavior: "deny", message: "The host has not decided this call." },
      onElicitation: (asked, { signal }) => forwardElicitation(host, asked, signal),
      spawnClaudeCodeProcess: (spawnOptions) => process.spawn(spawnOptions),
    };
    const input = new InputQueue<SDKUserMessage>();
    const working = request.start.kind !== "wait";
    const servers = { servers: request.agent.mcp_servers ?? {}, confined };
    const grantedCall = () => grants.last();
    const open = () =>
      openServers(request, { path: settings.path, confinement, host, grantedCall, connectRemoteServer });
    const giveUp = (): void => process.kill();
    request.signal?.addEventListener("abort", giveUp, { once: true });
    const starting = start(options, { sdk, input, working, servers, open, signal: request.signal });
    const started = await waitForAnswer(starting, "start", { withinMs: START_WITHIN_MS })
      .catch((thrown: unknown) => {
        process.kill();
        leftovers.sweep();
        stubs.sweepAll();
        throw startFailure(thrown, process.stderr);
      })
      .finally(() => request.signal?.removeEventListener("abort", giveUp));
    startSettings.forget();
    const translator = startTranslator({
      sessionId: request.sessionId,
      line: request.line?.threadId,
      instructions: request.agent.instructions,
      isAppended: request.agent.instructions_mode === "append",
      wantsOutput: request.line === undefined && request.agent.output_schema !== undefined,
      customTools: customResults.names,
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
      failedOutputs: new FailedOutputs(files.outputs),
      stubs,
      watchdog,
      input,
      host,
      announcements,
      translator,
      history,
      contained: wrapper !== undefined,
      ...toldOfSandbox(request, support),
      working,
    });
  }

  /** Makes the CLI's transcript match the log before a process reads it. */
  async function agreeOnHistory(
    request: EngineRequest,
  ): Promise<{ resume: boolean; history: EngineSession["history"]; baseline: ReturnType<typeof usageBaseline> }> {
    const { sessionId, transcripts, start: wanted } = request;
    const path = transcriptPath(request);
    const stored = await transcripts.load(sessionId, path);
    const { entries, agrees } = reconcile(stored, {
      history: request.history,
      sessionUuid: transcriptUuid(request),
      cwd: request.cwd,
      version,
    });
    const ready = wanted.kind === "call" ? withWaitingCall(entries, wanted.callId) : entries;
    if (ready !== stored) await transcripts.replace(sessionId, path, ready);
    const resume = entries.some((entry) => entry.type === "user" || entry.type === "assistant");
    if (!resume) forgetLocalCopy(request);
    return { resume, history: !agrees ? "reseeded" : resume ? "resumed" : "new", baseline: usageBaseline(entries) };
  }
}

/** Missing paths that the servers' sandboxes reserve while they run. */
function coversOf({ agent }: EngineRequest, confinement: Confinement | undefined): readonly string[] {
  const isInside = Object.values(agent.mcp_servers ?? {}).some(belongsInSandbox);
  return confinement !== undefined && isInside ? coverOf(confinement.plan) : [];
}

/** Starts a process that is ready for the first message. A process that continues a turn starts working at once. */
async function start(
  options: Options,
  {
    sdk,
    input,
    working,
    servers,
    open,
    signal,
  }: {
    sdk: ClaudeSdk;
    input: InputQueue<SDKUserMessage>;
    working: boolean;
    servers: Parameters<typeof requireServers>[1];
    open: () => Promise<ProcessServers>;
    signal: AbortSignal | undefined;
  },
): Promise<Query> {
  const opened = await open();
  try {
    signal?.throwIfAborted();
    const all = withServers(options, opened);
    const started = working
      ? sdk.query({ prompt: input, options: all })
      : (await sdk.startup({ options: all })).query(input);
    if (working) await started.initializationResult();
    await requireServers(started, servers);
    return started;
  } catch (thrown) {
    await opened.close();
    throw thrown;
  }
}

async function hostTools(
  request: EngineRequest,
  {
    host,
    createToolServer,
    customResults,
  }: { host: EngineHost; createToolServer: ToolServerFactory; customResults: CustomResults },
): Promise<NonNullable<Options["mcpServers"]>> {
  if (request.tools.length === 0) return {};
  const instance = await createToolServer({
    name: HOST_SERVER,
    tools: request.tools,
    run: async (tool, input, { callId, signal }) => {
      const outcome = await host.execute({ tool, callId, input }, signal);
      if (!outcome.isError) customResults.note(callId, tool, outcome.content);
      return outcome;
    },
  });
  return { [HOST_SERVER]: { type: "sdk", name: HOST_SERVER, instance, timeout: TOOL_TIMEOUT_MS } };
}

/** Calls announced by an earlier process. A continued turn may ask about them again. */
function callsIn({ history }: EngineRequest): string[] {
  return history.flatMap((item) =>
    item.kind === "model" ? item.blocks.flatMap((block) => (block.kind === "call" ? [block.callId] : [])) : [],
  );
}

function startFailure(thrown: unknown, stderr: string): CapstanError {
  if (thrown instanceof CapstanError) return thrown;
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
