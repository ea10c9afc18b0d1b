import type { EngineHost, EngineRequest } from "../../../core/engine.ts";
import { type Tool, traitsOfTool } from "../../../core/tool.ts";
import { hostToolName } from "../../tool-names.ts";
import type { BuiltinTool } from "./builtin-tool.ts";
import { questionTool } from "./question.ts";
import { skillTools } from "./skill.ts";

/** All that the lines of a session can call, and what holds it up. Each source of tools is one of its parts. */
export interface SessionTools {
  /** As they are now: a server may add tools and take them away. */
  readonly tools: readonly BuiltinTool[];
  /** Directories in which tools keep results that they tell the model to read. */
  readonly readable: readonly string[];
  /** Commands run in a sandbox. */
  readonly isConfined: boolean;
  /** Whatever tools start is sure to die with the host. */
  readonly isContained: boolean;
  /** Processes that tools have started and that still run. */
  pids(): readonly number[];
  close(): Promise<void>;
  /** Ends everything at once. */
  kill(): void;
}

/** One source of tools. What it does not have it leaves out. */
export type ToolSource = Pick<SessionTools, "tools"> & Partial<SessionTools>;

/** The built-in tools that a session of this engine can have. Those that belong to a line are made there. */
export const BUILTIN_HERE: readonly string[] = ["Agent", "AskUserQuestion", "SendMessage"];

/** Collects the tools of a session, in an order that stays the same. */
export async function openSessionTools(
  request: EngineRequest,
  host: Pick<EngineHost, "execute">,
): Promise<SessionTools> {
  return together([
    { tools: [questionTool()] },
    skillTools(request),
    { tools: request.tools.map((tool) => hostTool(tool, host)) },
  ]);
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
    pids: () => sources.flatMap((source) => source.pids?.() ?? []),
    close: async () => {
      await Promise.all(sources.map(async (source) => source.close?.()));
    },
    kill: () => {
      for (const source of sources) source.kill?.();
    },
  };
}
