import type { HookCallbackMatcher, HookInput, HookJSONOutput, Options } from "@anthropic-ai/claude-agent-sdk";
import type { EngineHost } from "../../core/ports/engine.ts";
import { messageOf } from "../../core/errors.ts";
import { type Tool, traitsOfTool } from "../../core/ports/tool.ts";
import { traitsOf } from "../builtin-tools.ts";
import { readToolName } from "../tool-names.ts";

/** Seconds; the longest possible timer. A person may take days to answer, and a hook that times out denies. */
const HOOK_TIMEOUT_SECONDS = 2_147_483;

/**
 * The gate for every tool call: the host decides permission before the call runs. `announced` resolves once the call is
 * in the log, so that no decision precedes its call. Any failure denies.
 */
export function gate(
  host: Pick<EngineHost, "prepare">,
  {
    tools,
    waitForAnnouncement,
    oneCall,
    readable = () => [],
    confined = false,
  }: {
    readonly tools: readonly Tool[];
    readonly waitForAnnouncement: (callId: string, signal: AbortSignal, agentId?: string) => Promise<void>;
    /** The process exists only to run one waiting call and must not ask the model afterwards. */
    readonly oneCall: boolean;
    /** Directories with saved results that the process tells the model to read. */
    readonly readable?: () => readonly string[];
    /** The process runs its commands in a sandbox. */
    readonly confined?: boolean;
  },
): NonNullable<Options["hooks"]> {
  const onPreToolUse = async (input: HookInput, signal: AbortSignal): Promise<HookJSONOutput> => {
    if (input.hook_event_name !== "PreToolUse") return {};
    const name = readToolName(input.tool_name);
    const hostTool = name.kind === "host" ? tools.find((tool) => tool.name === name.name) : undefined;
    try {
      await waitForAnnouncement(input.tool_use_id, signal, input.agent_id);
      const decision = await host.prepare(
        {
          callId: input.tool_use_id,
          tool: name.name,
          input: (input.tool_input ?? {}) as Record<string, unknown>,
          traits: hostTool === undefined ? traitsOf(input.tool_name) : traitsOfTool(hostTool),
          readable: readable(),
          confined,
        },
        signal,
      );
      return decision.behavior === "allow" ? answer("allow", "", decision.input) : answer("deny", decision.message);
    } catch (thrown) {
      return answer("deny", `Permission could not be decided: ${messageOf(thrown)}`);
    }
  };
  const matcher: HookCallbackMatcher = {
    timeout: HOOK_TIMEOUT_SECONDS,
    onFailure: "block",
    hooks: [async (input, _toolUseId, { signal }) => onPreToolUse(input, signal)],
  };
  const stop: HookCallbackMatcher = { hooks: [async () => ({ decision: "block", reason: "The call has run." })] };
  return { PreToolUse: [matcher], ...(oneCall && { UserPromptSubmit: [stop] }) };
}

function answer(
  permissionDecision: "allow" | "deny",
  permissionDecisionReason: string,
  updatedInput?: Record<string, unknown>,
): HookJSONOutput {
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision,
      permissionDecisionReason,
      ...(updatedInput && { updatedInput }),
    },
  };
}
