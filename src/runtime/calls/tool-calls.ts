import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Mode } from "../../core/agent/agent-definition.ts";
import type { Approval } from "../../core/session/approval.ts";
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
import { decisionEvent, isCustom, toolResult } from "./call-events.ts";
import { clientResult, lastOutcome } from "./client-results.ts";
import { CallJudge, type CallOutcome, type JudgeDeps } from "./permission-gate.ts";
import { unansweredElicitations } from "../approvals/elicitations.ts";
import { lateAnswers } from "./late-answers.ts";
import { keepOutput } from "../outputs/keep-output.ts";
import type { SessionHelpers } from "../session-deps.ts";

type Deps = JudgeDeps & SessionHelpers;

/** What a call needs from the turn that it belongs to. */
interface TurnOfCall {
  /** The turn must end: calls that are open will not be taken up again. */
  readonly isStopping: boolean;
  /** Milliseconds since the epoch; undefined when the turn has no deadline. */
  readonly deadline: number | undefined;
  /** Resolves when the turn has its slot and nobody else works in its directory. */
  occupy(): Promise<void>;
  reachLimit(hit: LimitHit): void;
}

interface Parts {
  readonly mode: () => Mode;
  readonly desk: ApprovalDesk;
  readonly turn: TurnOfCall;
}

/**
 * The way of every tool call, whatever its engine and tool: prepare (limits, hooks, permission), execute, finalize.
 * A decision is stored before it takes effect, so after a crash an allowed call never runs a second time.
 */
export class ToolCalls {
  readonly #deps: Deps;
  readonly #parts: Parts;
  readonly #decision: CallJudge;
  /** Details that host tools gave, kept until the result for the model arrives. */
  readonly #details = new Map<string, string>();
  /** Calls whose process is gone. They may be rebuilt from the log. */
  readonly #again = new Set<string>();
  /** Results of clients that the engine has not asked for yet. */
  readonly #given = new Map<string, Pick<ToolOutcome, "content" | "isError">>();
  /** Calls that are being decided, or are allowed and about to run. */
  readonly #inGate = new Set<string>();

  constructor(deps: Deps, parts: Parts) {
    this.#deps = deps;
    this.#parts = parts;
    this.#decision = new CallJudge(deps, parts);
  }

  /** Some call is being decided, or is about to run, and nobody is being asked about it. */
  get isDeciding(): boolean {
    return [...this.#inGate].some((callId) => !this.#parts.desk.isAsking(callId));
  }

  /** Call this before preparing a call whose process is gone. */
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
    // A call whose process is gone stays undecided, and is taken up again later.
    if (decided === undefined && !this.#parts.turn.isStopping)
      return { behavior: "deny", message: "The agent process is being ended." };
    // A turn that waited has given up its slot.
    if (log.state.status === "idle" && decided?.granted === true) await this.#parts.turn.occupy();
    let outcome: CallOutcome = await this.#keepFiles(call, decided ?? GIVEN_UP);
    const mode = this.#parts.mode();
    const isLeft = (): boolean => signal.aborted && !this.#parts.turn.isStopping;
    const decide = async (state: SessionState): Promise<readonly EventDraft[]> => {
      // The call may have been settled or decided meanwhile, and other calls may have used up the limit.
      const known = state.openCalls[callId];
      if (known?.decision !== "none") return [];
      if (isCustom(known) && !isLeft()) outcome = await this.#withAnswer(known, outcome);
      const hit = outcome.granted ? limitOnToolCall(record.agent.budget, state) : undefined;
      if (hit !== undefined) outcome = { ...outcome, ...this.#decision.overLimit(hit) };
      // The process that asked is gone: the call and any answer to it stay as they are.
      if (isLeft()) return [];
      // A call that was denied before the turn was stopped keeps its reason: a limit stops the turn as well.
      if (signal.aborted && outcome.granted && outcome.answer === undefined) outcome = { ...outcome, ...GIVEN_UP };
      return [
        ...(state.status === "idle" ? [{ type: "session.status_running", goes_on: true } as const] : []),
        ...(outcome.facts ?? (await lateAnswers(store, [known]))),
        decisionEvent({ call, open: known, outcome, mode, cwd: record.cwd }),
        ...(isCustom(known) ? [clientResult(known, callId, outcome)] : []),
      ];
    };
    const stored = await log.append(decide, { isEarly: this.#isRepeatable(call) });
    this.#deps.userHooks.noteDecision({ ...call, input: outcome.input ?? call.input });
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

  /** An engine's own tool that changes nothing can run again if the machine itself fails. */
  #isRepeatable({ tool, traits }: CallRequest): boolean {
    const isOwn = !tool.startsWith("mcp__") && this.#deps.tools.every(({ name }) => name !== tool);
    return isOwn && traits.readOnly && traits.custom !== true;
  }

  /** A client's answer counts as it is, whatever has happened since. Without one nothing is granted. */
  async #withAnswer(call: OpenCall, outcome: CallOutcome): Promise<CallOutcome> {
    const given = await lastOutcome(this.#deps, call, outcome.decidedBy);
    return given === undefined ? { ...outcome, granted: false } : { ...given, subject: outcome.subject };
  }

  /** The call is over for the log; the engine will ask for its result. */
  #keepResult(callId: string, { outcome, stored }: { outcome: CallOutcome; stored: readonly StoredEvent[] }): void {
    const result = outcome.answer?.result;
    if (outcome.granted && result !== undefined && stored.length > 0) this.#given.set(callId, result);
    this.reportOutcomes(stored);
  }

  /** Before a call changes files: the directory must be the session's, and a checkpoint must be taken. */
  async #keepFiles({ callId, tool, traits, input }: CallRequest, outcome: CallOutcome): Promise<CallOutcome> {
    if (!outcome.granted || !mayChangeFiles(tool, traits)) return outcome;
    try {
      await this.#parts.turn.occupy();
      const isLeft = (outcome.input ?? input)["run_in_background"] === true;
      await this.#deps.configuration.beforeCall(callId, outcome.subject, { isLeft });
      await this.#deps.checkpoints.beforeCall(callId);
      return outcome;
    } catch (thrown) {
      return { ...outcome, granted: false, decidedBy: "checkpoint", reason: messageOf(thrown) };
    }
  }

  /** A call that nobody was asked about is known only from the log, where markers replace its secrets. */
  #lacksSecrets({ callId, input }: CallRequest, { approvalId }: OpenCall): boolean {
    return this.#again.has(callId) && approvalId === undefined && hasMarker(JSON.stringify(input));
  }

  /** Whether the approval still waits for a person: no answer, not expired, and no rule decides it now. */
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
      deadline: this.#parts.turn.deadline,
      budgetLeft: budgetLeft(agent.budget, log.state),
      signal,
    });
    if (outcome.detail !== undefined) this.#details.set(callId, outcome.detail);
    return outcome;
  }

  /**
   * Stores the result as the model gets it, with exactly one outcome. The engine reports a call that a limit stopped as
   * the user's refusal; the log says what stopped it.
   */
  async finalize(
    {
      outputFile,
      ...result
    }: { callId: string; content: ToolContent; isError: boolean; outputFile?: string | undefined },
    { isStopping = false, limit }: { readonly isStopping?: boolean; readonly limit?: LimitHit | undefined } = {},
  ): Promise<void> {
    const kept = outputFile === undefined ? {} : await keepOutput(this.#deps, outputFile);
    const warned = await this.#deps.configuration.afterCall(result.callId);
    const detail = this.#details.get(result.callId);
    this.#details.delete(result.callId);
    this.#given.delete(result.callId);
    const { log, userHooks, checkpoints } = this.#deps;
    const events = (state: SessionState): readonly EventDraft[] => {
      const call = state.openCalls[result.callId];
      if (call === undefined) return warned;
      const outcome =
        call.decision === "denied" ? "denied" : !result.isError ? "completed" : isStopping ? "aborted" : "failed";
      return [
        // A server that asked a person did not wait for the answer: the turn continues without it.
        ...(state.status === "idle" && !isStopping ? [{ type: "session.status_running", goes_on: true } as const] : []),
        ...unansweredElicitations(result.callId, call),
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
    // Nobody waits for the end of a call that changed nothing, so it is stored with what the turn does next.
    if (userHooks.seeOutcomes || checkpoints.isWatching(result.callId)) this.reportOutcomes(await log.append(events));
    else await log.appendSoon(events);
  }

  /** Shows the outcomes among the stored events to hooks, and then takes checkpoints. */
  reportOutcomes(stored: readonly StoredEvent[]): void {
    const { userHooks, checkpoints } = this.#deps;
    userHooks.afterTool(stored, this.#parts.mode());
    for (const { event } of stored)
      if (event.type === "agent.tool_result" || event.type === "agent.mcp_tool_result")
        checkpoints.afterCall(event.call_id, userHooks.waitForHooks());
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
