import type { Approval } from "../../core/session/approval.ts";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Mode } from "../../core/agent/agent-definition.ts";
import { budgetLeft, limitOnToolCall, limitText } from "../../core/session/session-limits.ts";
import type { LimitHit } from "../../core/money/budget-schema.ts";
import type { ToolContent } from "../../core/events/content.ts";
import type { CallDecision, CallRequest } from "../../core/ports/engine.ts";
import { messageOf } from "../../core/errors.ts";
import type { EventDraft, StoredEvent } from "../../core/events/events.ts";
import { mayChangeFiles } from "../../core/rules/tool-names.ts";
import { hasMarker } from "../../core/redaction/redaction-marker.ts";
import type { OpenCall, SessionState } from "../../core/session/state.ts";
import type { Tool, ToolOutcome } from "../../core/ports/tool.ts";
import type { ApprovalDesk } from "../approvals/approval-desk.ts";
import { clientResult, customToolResult, isCustom, lastOutcome } from "./client-results.ts";
import { CallJudge, type CallOutcome } from "./permission-gate.ts";
import { unanswered } from "../approvals/elicitations.ts";
import { lateAnswers } from "./late-answers.ts";
import { keepOutput, type OutputFacts } from "../outputs/keep-output.ts";
import { isSameFile } from "../paths/file-input.ts";
import type { SessionDeps } from "../session-deps.ts";

/**
 * The one way of a tool call, for every engine and every tool: prepare (limits, permission), execute, finalize.
 * A decision is stored before it takes effect, so that after a crash an allowed call is never run a second time.
 */
export class ToolCalls {
  readonly #deps: SessionDeps;
  readonly #hooks: ToolCallHooks;
  readonly #decision: CallJudge;
  /** Details of host tools that wait for the result the model is told. */
  readonly #details = new Map<string, string>();
  /** Calls of a process that is gone, perhaps rebuilt from the log. */
  readonly #again = new Set<string>();

  /** Results of clients that the engine has not asked for yet. */
  readonly #given = new Map<string, Pick<ToolOutcome, "content" | "isError">>();
  /** Calls that are being decided, or are let through and about to run. */
  readonly #inGate = new Set<string>();

  constructor(deps: SessionDeps, hooks: ToolCallHooks) {
    this.#deps = deps;
    this.#hooks = hooks;
    this.#decision = new CallJudge(deps, hooks);
  }

  /** Some call is being decided, or is about to run, without a person being asked about it. */
  get isDeciding(): boolean {
    return [...this.#inGate].some((callId) => !this.#hooks.desk.isAsking(callId));
  }

  /** To be called before a call whose process is gone is prepared. */
  takeUpAgain(callId: string): void {
    this.#again.add(callId);
  }

  async prepare(call: CallRequest, signal: AbortSignal): Promise<CallDecision> {
    this.#inGate.add(call.callId);
    return this.#prepare(call, signal).finally(() => this.#inGate.delete(call.callId));
  }

  async #prepare(call: CallRequest, signal: AbortSignal): Promise<CallDecision> {
    const { log, record, store } = this.#deps;
    const { callId } = call;
    const open = log.state.openCalls[callId];
    if (open === undefined) return { behavior: "deny", message: "This call is not known to the session." };
    if (open.decision !== "none")
      return { behavior: "deny", message: "This call was already decided before a restart." };
    const decided = this.#lacksSecrets(call, open) ? SECRETS_LOST : await this.#decision.decide(call, open, signal);
    // A call that was given up because its process is gone stays undecided, and is taken up again later.
    if (decided === undefined && !this.#hooks.stopping())
      return { behavior: "deny", message: "The agent process is being ended." };
    // A turn that waited has given its place away.
    if (log.state.status === "idle" && decided?.granted === true) await this.#hooks.occupy();
    let outcome: CallOutcome = await this.#kept(call, decided ?? GIVEN_UP);
    const mode = this.#hooks.mode();
    const isLeft = (): boolean => signal.aborted && !this.#hooks.stopping();
    const decide = async (state: SessionState): Promise<readonly EventDraft[]> => {
      // The call may have been settled or decided meanwhile, and calls that were asked about together may have used the
      // limit up.
      const known = state.openCalls[callId];
      if (known?.decision !== "none") return [];
      if (isCustom(known) && !isLeft()) outcome = await this.#answered(known, outcome);
      const hit = outcome.granted ? limitOnToolCall(record.agent.budget, state) : undefined;
      if (hit !== undefined) outcome = { ...outcome, ...this.#decision.overLimit(hit) };
      // The process that asked is gone: the call stays as it is, and so does an answer that was just given.
      if (isLeft()) return [];
      // What was denied before the turn was stopped was denied for its own reason: a limit stops the turn as well.
      if (signal.aborted && outcome.granted && outcome.answer === undefined) outcome = { ...outcome, ...GIVEN_UP };
      return [
        ...(state.status === "idle" ? [{ type: "session.status_running", goes_on: true } as const] : []),
        ...(outcome.facts ?? (await lateAnswers(store, [known]))),
        decisionEvent({ call, open: known, outcome, mode, cwd: record.cwd }),
        ...(isCustom(known) ? [clientResult(known, callId, outcome)] : []),
      ];
    };
    const stored = await log.append(decide, { isEarly: this.#isRepeatable(call) });
    this.#deps.userHooks.decided({ ...call, input: outcome.input ?? call.input });
    if (isCustom(open)) this.#keepResult(callId, { outcome, stored });
    if (!outcome.granted || stored.length === 0) return { behavior: "deny", message: outcome.reason };
    const { input, subject } = outcome;
    const places = subject?.paths ?? [];
    return {
      behavior: "allow",
      ...(input !== undefined && { input: { ...input } }),
      ...(places.length > 0 && { places }),
      ...(outcome.directory !== undefined && { directory: outcome.directory }),
    };
  }

  /** A tool of the engine's own that changes nothing: should the machine itself fail, it can run again. */
  #isRepeatable({ tool, traits }: CallRequest): boolean {
    const isOwn = !tool.startsWith("mcp__") && this.#deps.tools.every(({ name }) => name !== tool);
    return isOwn && traits.readOnly && traits.custom !== true;
  }

  /** What a client has answered is told as it is, whatever has happened since. Without it nothing can be granted. */
  async #answered(call: OpenCall, outcome: CallOutcome): Promise<CallOutcome> {
    const given = await lastOutcome(this.#deps, call, outcome.decidedBy);
    return given === undefined ? { ...outcome, granted: false } : { ...given, subject: outcome.subject };
  }

  /** The call is over for the log; the engine will ask for its result. */
  #keepResult(callId: string, { outcome, stored }: { outcome: CallOutcome; stored: readonly StoredEvent[] }): void {
    const result = outcome.answer?.result;
    if (outcome.granted && result !== undefined && stored.length > 0) this.#given.set(callId, result);
    this.finalized(stored);
  }

  /** Before it changes anything: the place must be the session's, and the files must be kept. */
  async #kept({ callId, tool, traits, input }: CallRequest, outcome: CallOutcome): Promise<CallOutcome> {
    if (!outcome.granted || !mayChangeFiles(tool, traits)) return outcome;
    try {
      await this.#hooks.occupy();
      const isLeft = (outcome.input ?? input)["run_in_background"] === true;
      await this.#deps.configuration.beforeCall(callId, outcome.subject, { isLeft });
      await this.#deps.checkpoints.beforeCall(callId);
      return outcome;
    } catch (thrown) {
      return { ...outcome, granted: false, decidedBy: "checkpoint", reason: messageOf(thrown) };
    }
  }

  /** A call that nobody was asked about is known from the log alone, where markers stand for the secrets in it. */
  #lacksSecrets({ callId, input }: CallRequest, { approvalId }: OpenCall): boolean {
    return this.#again.has(callId) && approvalId === undefined && hasMarker(JSON.stringify(input));
  }

  /** Whether the approval still waits for somebody: nobody answered, it has not expired, and no rule decides it now. */
  needsPerson(approval: Approval): Promise<boolean> {
    return this.#decision.needsPerson(approval);
  }

  async execute(
    { tool, callId, input }: { tool: Tool; callId: string; input: unknown },
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const { record, log, stateDir, variables } = this.#deps;
    const { agent, id: sessionId, cwd } = record;
    const given = this.#given.get(callId);
    if (given !== undefined) return given;
    if (log.state.openCalls[callId]?.decision !== "allowed")
      return { isError: true, content: [{ type: "text", text: "This call was not allowed, so it was not run." }] };
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

  /**
   * The result as the model gets it, with exactly one outcome. The engine reports a call that a limit stopped as the
   * user's refusal; the log says what stopped it.
   */
  async finalize(
    {
      outputFile,
      ...result
    }: { callId: string; content: ToolContent; isError: boolean; outputFile?: string | undefined },
    {
      isStopping: interrupted = false,
      limit,
    }: { readonly isStopping?: boolean; readonly limit?: LimitHit | undefined } = {},
  ): Promise<void> {
    const kept = outputFile === undefined ? {} : await keepOutput(this.#deps, outputFile);
    const warned = await this.#deps.configuration.afterCall(result.callId);
    const detail = this.#details.get(result.callId);
    this.#details.delete(result.callId);
    this.#given.delete(result.callId);
    const { log, userHooks, checkpoints } = this.#deps;
    const told = (state: SessionState): readonly EventDraft[] => {
      const call = state.openCalls[result.callId];
      if (call === undefined) return warned;
      const outcome =
        call.decision === "denied" ? "denied" : !result.isError ? "completed" : interrupted ? "aborted" : "failed";
      return [
        // A server that asked a person has not waited for the answer: the turn goes on without it.
        ...(state.status === "idle" && !interrupted
          ? [{ type: "session.status_running", goes_on: true } as const]
          : []),
        ...unanswered(result.callId, call),
        ...warned,
        toolResult(call, {
          ...result,
          ...(outcome === "aborted" && limit !== undefined && { content: [{ type: "text", text: stoppedBy(limit) }] }),
          outcome,
          detail,
          ...kept,
        }),
      ];
    };
    // Nobody waits for the end of a call that changed nothing, so that it can be stored with what the turn does next.
    if (userHooks.seeOutcomes || checkpoints.isWatching(result.callId)) this.finalized(await log.append(told));
    else await log.appendSoon(told);
  }

  /** To be called with what was stored: hooks see the outcomes among it, and then the files are kept. */
  finalized(stored: readonly StoredEvent[]): void {
    const { userHooks, checkpoints } = this.#deps;
    userHooks.afterTool(stored, this.#hooks.mode());
    for (const { event } of stored)
      if (event.type === "agent.tool_result" || event.type === "agent.mcp_tool_result")
        checkpoints.afterCall(event.call_id, userHooks.finished());
  }
}

const stoppedBy = (limit: LimitHit): string =>
  `[Stopped while it ran, and its outcome is unknown: ${limitText(limit)}]`;

const GIVEN_UP: CallOutcome = { granted: false, decidedBy: "turn:ended", reason: "The call was given up." };

const SECRETS_LOST: CallOutcome = {
  granted: false,
  decidedBy: "error",
  reason:
    "Not run: the process that made this call is gone, and the secrets in its input are in no log. Make the call again.",
};

/** `open` tells the approval that was opened while the call was being decided. An input is recorded when it means something else. */
function decisionEvent({
  call,
  open,
  outcome,
  mode,
  cwd,
}: {
  call: CallRequest;
  open: OpenCall;
  outcome: CallOutcome;
  mode: Mode;
  cwd: string;
}): EventDraft<"capstan.permission_decided"> {
  const { granted, decidedBy, reason, input, subject } = outcome;
  const isOther = input !== undefined && !isSameFile(call.tool, [call.input, input], cwd);
  return {
    type: "capstan.permission_decided",
    ...(open.threadId !== null && { session_thread_id: open.threadId }),
    call_id: call.callId,
    tool_use_id: open.eventId,
    tool: call.tool,
    decision: granted ? "allow" : "deny",
    decided_by: decidedBy,
    reason,
    mode,
    traits: call.traits,
    ...(granted && isOther && { input: { ...input } }),
    ...(subject !== undefined && { subject }),
    ...(open.approvalId !== undefined && { approval_id: open.approvalId }),
  };
}

interface ToolCallHooks {
  readonly mode: () => Mode;
  readonly desk: ApprovalDesk;
  /** The turn is to end: what is open will not be taken up again. */
  readonly stopping: () => boolean;
  /** Resolves when nobody else works where the call would. */
  readonly occupy: () => Promise<void>;
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
  readonly whole_output?: OutputFacts["whole_output"];
}

export function toolResult(call: OpenCall, facts: ResultFacts): EventDraft {
  if (isCustom(call)) return customToolResult(call, facts);
  const { callId, content, isError, outcome, detail, whole_output } = facts;
  const common = {
    ...(call.threadId !== null && { session_thread_id: call.threadId }),
    call_id: callId,
    outcome,
    content,
    is_error: isError,
    ...(detail !== undefined && { detail }),
    ...(whole_output !== undefined && { whole_output }),
  };
  return call.type === "agent.mcp_tool_use"
    ? { type: "agent.mcp_tool_result", ...common, mcp_tool_use_id: call.eventId }
    : { type: "agent.tool_result", ...common, tool_use_id: call.eventId };
}
