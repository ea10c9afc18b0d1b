import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Mode } from "../core/agent-definition.ts";
import { type LimitHit, budgetLeft, limitOnToolCall } from "../core/budget.ts";
import { threadId } from "../core/clock.ts";
import type { ToolContent } from "../core/content.ts";
import type { CallDecision, CallRequest } from "../core/engine.ts";
import { messageOf } from "../core/errors.ts";
import type { EventDraft } from "../core/events.ts";
import { decide, type PermissionAnswer } from "../core/permission.ts";
import type { OpenCall } from "../core/state.ts";
import type { Tool, ToolOutcome } from "../core/tool.ts";
import { staysInside } from "./workspace-paths.ts";
import type { SessionDeps } from "./session-deps.ts";

/**
 * The one way of a tool call, for every engine and every tool: prepare (limits, permission), execute, finalize.
 * A decision is stored before it takes effect, so that after a crash an allowed call is never run a second time.
 */
export class ToolCalls {
  readonly #deps: SessionDeps;
  readonly #hooks: ToolCallHooks;
  /** Details of host tools that wait for the result the model is told. */
  readonly #details = new Map<string, string>();

  constructor(deps: SessionDeps, hooks: ToolCallHooks) {
    this.#deps = deps;
    this.#hooks = hooks;
  }

  async prepare(call: CallRequest, signal: AbortSignal): Promise<CallDecision> {
    const { log } = this.#deps;
    const open = log.state.openCalls[call.callId];
    if (open === undefined) return { behavior: "deny", message: "This call is not known to the session." };
    if (open.decision !== "none")
      return { behavior: "deny", message: "This call was already decided before a restart." };
    const { answer, decidedBy, reason } = await this.#decide(call, signal).catch((thrown: unknown) => ({
      answer: deny(`Permission could not be decided: ${messageOf(thrown)}`),
      decidedBy: "error",
      reason: messageOf(thrown),
    }));
    const verdict = { granted: answer.behavior === "allow", decidedBy: answer.by ?? decidedBy, reason };
    if (answer.behavior === "deny") verdict.reason = answer.message ?? reason;
    await log.append((state) => {
      // The call may have been settled meanwhile, and calls that were asked about together may have used the limit up.
      if (!(call.callId in state.openCalls)) return [];
      const hit = verdict.granted ? limitOnToolCall(this.#deps.record.agent.budget, state) : undefined;
      if (hit !== undefined) Object.assign(verdict, this.#overLimit(hit));
      if (signal.aborted) Object.assign(verdict, { granted: false, reason: "The call was given up." });
      return [
        {
          type: "capstan.permission_decided",
          ...(open.threadId !== null && { session_thread_id: open.threadId }),
          call_id: call.callId,
          tool_use_id: open.eventId,
          tool: call.tool,
          decision: verdict.granted ? "allow" : "deny",
          decided_by: verdict.decidedBy,
          reason: verdict.reason,
          ...(answer.behavior === "allow" && answer.input !== undefined && { input: answer.input }),
        },
      ];
    });
    if (!verdict.granted || log.state.openCalls[call.callId]?.decision !== "allowed")
      return { behavior: "deny", message: verdict.reason };
    return answer.behavior === "allow" && answer.input !== undefined
      ? { behavior: "allow", input: answer.input }
      : { behavior: "allow" };
  }

  #overLimit(hit: LimitHit): { granted: boolean; decidedBy: string; reason: string } {
    this.#hooks.onLimit(hit);
    return {
      granted: false,
      decidedBy: `limit:${hit.which}`,
      reason: `The session's limit of ${hit.limit} ${hit.which} is reached.`,
    };
  }

  async #decide(
    call: CallRequest,
    signal: AbortSignal,
  ): Promise<{ answer: PermissionAnswer; decidedBy: string; reason: string }> {
    const { record, log, ask } = this.#deps;
    const { agent, id: sessionId } = record;
    const { mode } = this.#hooks;
    const hit = limitOnToolCall(agent.budget, log.state);
    if (hit !== undefined) {
      const { decidedBy, reason } = this.#overLimit(hit);
      return { answer: deny(reason), decidedBy, reason };
    }
    if (!this.#enabled(call))
      return {
        answer: deny(`${call.tool} is not enabled for this agent.`),
        decidedBy: "agent:tools",
        reason: "The tool is not enabled.",
      };
    const verdict = decide({
      tool: call.tool,
      mode: mode(),
      rules: agent.permissions,
      traits: { ...call.traits, inside: staysInside(call.input, record.cwd) },
    });
    if (verdict.behavior === "allow") return { answer: { behavior: "allow" }, ...verdict };
    if (verdict.behavior === "deny") return { answer: deny(verdict.reason), ...verdict };
    if (ask === undefined)
      return { answer: deny(`${verdict.reason} Nobody is there to ask, so it was not run.`), ...verdict };
    const answer = await ask({
      sessionId,
      callId: call.callId,
      tool: call.tool,
      input: call.input,
      agent: call.engineAgentId,
      askedBy: verdict.decidedBy,
      signal,
    });
    return {
      answer,
      decidedBy: "caller",
      reason:
        answer.behavior === "deny"
          ? (answer.message ?? "The caller denied this call.")
          : "The caller allowed this call.",
    };
  }

  /** A subagent has its own list of tools, or its agent's. Tools of the host and of the engine itself are not listed. */
  #enabled({ tool, traits, engineAgentId }: CallRequest): boolean {
    const { record, tools, log } = this.#deps;
    const { agent, id: sessionId } = record;
    const name =
      engineAgentId === undefined ? undefined : log.state.threads[threadId(sessionId, engineAgentId)]?.agentName;
    const own = name === undefined ? undefined : agent.subagents[name]?.tools;
    if (own !== undefined) return own.includes(tool) || traits.safeInternal;
    return (
      agent.tools.includes(tool) ||
      traits.safeInternal ||
      tool.startsWith("mcp__") ||
      tools.some((given) => given.name === tool)
    );
  }

  async execute(
    { tool, callId, input }: { tool: Tool; callId: string; input: unknown },
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const { record, log, stateDir, variables } = this.#deps;
    const { agent, id: sessionId, cwd } = record;
    const tempDir = join(stateDir, "tmp", `call-${callId.replaceAll(/[^\w-]/g, "_")}`);
    await mkdir(tempDir, { recursive: true });
    const outcome = await tool.run(input, {
      sessionId,
      callId,
      cwd,
      tempDir,
      variables,
      deadline: this.#hooks.deadline(),
      budgetLeft: budgetLeft(agent.budget, log.state),
      signal,
    });
    if (outcome.detail !== undefined) this.#details.set(callId, outcome.detail);
    return outcome;
  }

  /** The result as the model is told it, with exactly one outcome. */
  async finalize(
    result: { callId: string; content: ToolContent; isError: boolean },
    interrupted: boolean,
  ): Promise<void> {
    const detail = this.#details.get(result.callId);
    this.#details.delete(result.callId);
    await this.#deps.log.append((state) => {
      const call = state.openCalls[result.callId];
      if (call === undefined) return [];
      const outcome =
        call.decision === "denied" ? "denied" : !result.isError ? "completed" : interrupted ? "aborted" : "failed";
      return [toolResult(call, { ...result, outcome, detail })];
    });
  }
}

interface ToolCallHooks {
  readonly mode: () => Mode;
  /** Milliseconds since the epoch; undefined when the turn has no deadline. */
  readonly deadline: () => number | undefined;
  readonly onLimit: (hit: LimitHit) => void;
}

export interface ResultFacts {
  readonly callId: string;
  readonly content: ToolContent;
  readonly isError: boolean;
  readonly outcome: "completed" | "failed" | "denied" | "aborted";
  readonly detail?: string | undefined;
}

export function toolResult(call: OpenCall, { callId, content, isError, outcome, detail }: ResultFacts): EventDraft {
  const common = {
    ...(call.threadId !== null && { session_thread_id: call.threadId }),
    call_id: callId,
    outcome,
    content,
    is_error: isError,
    ...(detail !== undefined && { detail }),
  };
  return call.type === "agent.mcp_tool_use"
    ? { type: "agent.mcp_tool_result", ...common, mcp_tool_use_id: call.eventId }
    : { type: "agent.tool_result", ...common, tool_use_id: call.eventId };
}

function deny(message: string): PermissionAnswer {
  return { behavior: "deny", message };
}
