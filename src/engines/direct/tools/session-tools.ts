import { join } from "node:path";
import type { EngineHost, EngineRequest } from "../../../core/ports/engine.ts";
import { type Tool, traitsOfTool } from "../../../core/ports/tool.ts";
import { Leftovers } from "../../../process/leftovers.ts";
import type { ProcessUse } from "../../../process/limits.ts";
import { coverOf } from "../../../sandbox/confined-command.ts";
import { Stubs } from "../../../sandbox/stubs.ts";
import type { Confinement } from "../../../sandbox/support.ts";
import { BUILTIN_NAMES } from "../../builtin-tools.ts";
import { hostToolName } from "../../tool-names.ts";
import { type McpParts, openMcpTools } from "../mcp-tools.ts";
import { bashTools } from "./bash.ts";
import type { BuiltinTool } from "./builtin-tool.ts";
import { fileTools } from "./file-tools.ts";
import { createQuestionTool } from "./question.ts";
import { resultsDirectory } from "./search/long-result.ts";
import { skillTools } from "./skill.ts";

/**
 * All tools that the threads of a session can call, and their shared resources. Each source of tools is one of its
 * parts.
 */
export interface SessionTools {
  /** The current tools: a server may add and remove some. */
  readonly tools: readonly BuiltinTool[];
  /** Directories with saved results that tools ask the model to read. */
  readonly readable: readonly string[];
  /** Commands run in a sandbox. */
  readonly isConfined: boolean;
  /** Everything that tools start ends with the host. */
  readonly isContained: boolean;
  /** Total use of the processes that tools started. */
  use(): ProcessUse;
  close(): Promise<void>;
  /** Kills everything at once. */
  kill(): void;
}

/** One source of tools. Omits what it does not have. */
export type ToolSource = Pick<SessionTools, "tools"> & Partial<SessionTools>;

/** The built-in tools that a session of this engine can have. Tools that belong to a thread are created there. */
export const BUILTIN_HERE: readonly string[] = BUILTIN_NAMES;

export interface ToolParts extends Omit<McpParts, "host"> {
  readonly host: Pick<EngineHost, "execute" | "elicit">;
}

/** Collects the tools of a session, always in the same order. */
export async function openSessionTools(request: EngineRequest, parts: ToolParts): Promise<SessionTools> {
  const { host, confinement, containment } = parts;
  const leftovers = new Leftovers(request.stateDir);
  const stubs = stubsOf(request, confinement);
  const sources: ToolSource[] = [
    { tools: [createQuestionTool()], isContained: containment !== undefined, isConfined: confinement !== undefined },
    {
      tools: fileTools({ place: request, agent: request.agent, sandbox: request.sandbox, confinement }),
      readable: [resultsDirectory(request)],
    },
    ...(usesCommands(request) ? [commands(request, parts, { leftovers, stubs })] : []),
    skillTools(request),
    { tools: request.tools.map((tool) => hostTool(tool, host)) },
    await openMcpTools(request, parts),
    // Last, so that nothing still running uses the files they remove.
    { tools: [], close: async () => (leftovers.sweep(), stubs.sweepAll()), kill: () => leftovers.sweep() },
  ];
  return together(sources);
}

/** Servers and commands use the same sandbox, so its leftovers are recorded before the first of them starts. */
export function stubsOf(place: Pick<EngineRequest, "stateDir" | "cwd">, confinement: Confinement | undefined): Stubs {
  const stubs = new Stubs(place);
  if (confinement === undefined) return stubs;
  const { plan } = confinement;
  const { configuration, gitDirectories } = plan;
  stubs.expect({ home: join(place.stateDir, "home"), covers: coverOf(plan), configuration, gitDirectories });
  return stubs;
}

function usesCommands({ agent }: EngineRequest): boolean {
  return [agent.tools, ...Object.values(agent.subagents).map(({ tools = [] }) => tools)].some((tools) =>
    tools.includes("Bash"),
  );
}

function commands(
  request: EngineRequest,
  { path, confinement, containment }: ToolParts,
  { leftovers, stubs }: { readonly leftovers: Leftovers; readonly stubs: Stubs },
): ToolSource {
  const { sessionId, cwd, stateDir, variables } = request;
  const tempDir = leftovers.temporaryDirectory();
  const bash = bashTools({ sessionId, cwd, stateDir, variables, path, confinement, containment, tempDir, stubs });
  return { ...bash, readable: [bash.outputs] };
}

function hostTool(tool: Tool, host: Pick<EngineHost, "execute">): BuiltinTool {
  return {
    name: hostToolName(tool.name),
    description: tool.description,
    inputSchema: tool.inputSchema,
    traits: traitsOfTool(tool),
    run: (input, { callId, signal }) => host.execute({ tool, callId, input }, signal),
  };
}

function together(sources: readonly ToolSource[]): SessionTools {
  return {
    get tools() {
      return sources.flatMap(({ tools }) => tools);
    },
    readable: sources.flatMap(({ readable = [] }) => readable),
    isConfined: sources.some(({ isConfined = false }) => isConfined),
    isContained: sources.every(({ isContained = true }) => isContained),
    use: () => {
      const all = sources.flatMap((source) => source.use?.() ?? []);
      return {
        memory_bytes: all.reduce((sum, one) => sum + one.memory_bytes, 0),
        processes: all.reduce((sum, one) => sum + one.processes, 0),
        cpu_seconds: all.reduce((sum, one) => sum + one.cpu_seconds, 0),
      };
    },
    close: async () => {
      for (const source of sources) await source.close?.();
    },
    kill: () => {
      for (const source of sources) source.kill?.();
    },
  };
}
