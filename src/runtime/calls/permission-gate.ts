import type { Mode } from "../../core/agent/agent-definition.ts";
import type { Approval, StoredAnswer } from "../../core/session/approval.ts";
import type { Crossing } from "../../core/money/budget-scopes.ts";
import { limitOnToolCall, limitText } from "../../core/session/session-limits.ts";
import type { LimitHit } from "../../core/money/budget-schema.ts";
import type { CallRequest } from "../../core/ports/engine.ts";
import { messageOf } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { decide, type PermissionVerdict } from "../../core/permission/decide.ts";
import { isAboutConfiguration } from "../../core/permission/protected/in-call.ts";
import { runsConfined } from "../../core/permission/limits.ts";
import type { CallSubject } from "../../core/rules/subject.ts";
import { parseRule } from "../../core/rules/rule.ts";
import { PLAN_TOOL } from "../../core/rules/tool-names.ts";
import type { SandboxPlan } from "../../core/environment/sandbox.ts";
import type { OpenCall } from "../../core/session/state.ts";
import { sharedLimitOnToolCall } from "../engine/budgets.ts";
import { describeCall } from "./approval-request.ts";
import { inputAsAnswered, inputAsApproved, leadsTo, MOVED, namesSame } from "./approved-call.ts";
import { type ApprovalDesk, confirmation, type Settled } from "../approvals/approval-desk.ts";
import { callWithPaths, sessionSubject } from "../subject/call-subject.ts";
import { byClient } from "./client-results.ts";
import type { HookedCall } from "../hooks/hooks.ts";
import { sessionSandbox } from "../protected/sandbox.ts";
import type { SessionBasics, SessionHelpers, SessionSurroundings, ToolSettings } from "../session-deps.ts";

export type JudgeDeps = SessionBasics & SessionSurroundings & ToolSettings & Pick<SessionHelpers, "userHooks">;

/** What was decided about a call, and everything the log must say about it. */
export interface CallOutcome {
  readonly granted: boolean;
  readonly decidedBy: string;
  readonly reason: string;
  /** What runs instead of what the model wrote. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  readonly subject?: CallSubject | undefined;
  /** Where a command starts, when that is not the workspace. */
  readonly directory?: string | undefined;
  readonly approvalId?: string | undefined;
  /** For a custom tool: what the client answered. */
  readonly answer?: StoredAnswer;
  /** Who answered, and what follows from the answer. */
  readonly facts?: readonly EventDraft[];
}

interface Parts {
  readonly mode: () => Mode;
  readonly desk: ApprovalDesk;
  readonly turn: { reachLimit(hit: LimitHit): void };
}

/** Decides whether a call may run: limits, then hooks, then rules, then people. Any error on the way denies. */
export class CallJudge {
  readonly #deps: JudgeDeps;
  readonly #parts: Parts;
  #limits: SandboxPlan | undefined;

  constructor(deps: JudgeDeps, parts: Parts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** Undefined when the call was stopped before anybody decided it. */
  async decide(call: CallRequest, open: OpenCall, signal: AbortSignal): Promise<CallOutcome | undefined> {
    try {
      return await this.#decide(call, open, signal);
    } catch (thrown) {
      const reason = `Permission could not be decided: ${messageOf(thrown)}`;
      return { granted: false, decidedBy: "error", reason };
    }
  }

  async needsPerson({ request, status, expiresAt }: Approval): Promise<boolean> {
    const { log, clock } = this.#deps;
    const open = log.state.openCalls[request.call_id];
    if (open === undefined || status !== "pending") return false;
    if (expiresAt !== null && expiresAt <= clock.now()) return false;
    const { call_id: callId, tool, input, traits, directory } = request;
    const call: CallRequest = { callId, tool, input, traits, ...(directory !== undefined && { directory }) };
    return (await this.#judge(call, open, this.#subject(call))).behavior === "ask";
  }

  overLimit(hit: LimitHit): CallOutcome {
    this.#parts.turn.reachLimit(hit);
    return { granted: false, decidedBy: `limit:${hit.which}`, reason: limitText(hit) };
  }

  async #decide(asked: CallRequest, open: OpenCall, signal: AbortSignal): Promise<CallOutcome | undefined> {
    const { record, log } = this.#deps;
    const made = await this.#whereAsked(asked, open);
    const hit = limitOnToolCall(record.agent.budget, log.state) ?? (await sharedLimitOnToolCall(this.#deps));
    if (hit !== undefined) return this.overLimit(hit);
    const hooked = await this.#runHooks(callWithPaths(made, this.#deps), open, signal);
    if (hooked.kind === "given_up") return undefined;
    if (hooked.kind === "denied") return { granted: false, decidedBy: hooked.by, reason: hooked.reason };
    // A hook may have written a path in another way.
    const { input } = callWithPaths({ ...made, input: hooked.input }, this.#deps);
    const isChanged = input !== made.input && JSON.stringify(input) !== JSON.stringify(made.input);
    // After a restart the input comes from the approval, and differs from the log's although no hook changed it.
    if (made.traits.custom === true && isChanged && open.approvalId === undefined) return CHANGED_BY_HOOK;
    const outcome = await this.#permit({ ...made, input }, open, signal);
    const { directory } = made;
    return outcome && { ...outcome, directory, ...(isChanged && { input: outcome.input ?? input }) };
  }

  /** A command starts in the directory that a person was asked about, also after a restart. */
  async #whereAsked(call: CallRequest, { approvalId }: OpenCall): Promise<CallRequest> {
    if (approvalId === undefined) return call;
    const asked = await this.#deps.store.approvals.get(approvalId);
    if (asked === undefined) return call;
    const { directory: _now, ...rest } = call;
    const { directory } = asked.request;
    return { ...rest, ...(directory !== undefined && { directory }) };
  }

  /** Hooks see a call once. A person is asked about what they left of it, also after a restart. */
  async #runHooks(call: CallRequest, { approvalId, threadId }: OpenCall, signal: AbortSignal): Promise<HookedCall> {
    const { userHooks, store } = this.#deps;
    if (approvalId === undefined) return userHooks.beforeTool(call, { threadId, mode: this.#parts.mode() }, signal);
    const asked = await store.approvals.get(approvalId);
    return { kind: "passed", input: asked?.request.input ?? call.input };
  }

  /** Whether the call, as hooks have left it, may run. */
  async #permit(call: CallRequest, open: OpenCall, signal: AbortSignal): Promise<CallOutcome | undefined> {
    const subject = this.#subject(call);
    const verdict = await this.#judge(call, open, subject);
    // A person's answer counts as given, even if it has since become a rule that would allow the call.
    const answered = verdict.behavior === "deny" ? undefined : await this.#answerTo(open, verdict);
    if (answered !== undefined) return this.#afterAsking(answered, { call, open, subject });
    if (verdict.behavior !== "ask") {
      await this.#countGrant(verdict);
      return { ...byVerdict(verdict), subject };
    }
    const settled = await this.#parts.desk.ask(
      {
        call,
        open,
        request: () => describeCall({ call, open, verdict, subject }, this.#deps),
        decideAgain: () => this.#judge(call, open, subject),
      },
      signal,
    );
    if (settled.kind === "decided") await this.#countGrant(settled.verdict);
    return this.#afterAsking(settled, { call, open, subject });
  }

  /** What a person answered before the call was taken up again. From then on the approval is closed. */
  async #answerTo({ approvalId }: OpenCall, verdict: PermissionVerdict): Promise<Settled | undefined> {
    if (approvalId === undefined) return undefined;
    if (verdict.behavior === "allow") await this.#parts.desk.settleBy(approvalId, verdict);
    const approval = await this.#deps.store.approvals.get(approvalId);
    const answer = approval?.answer ?? null;
    if (approval === undefined || answer === null || answer.from === "session") return undefined;
    return { kind: "answered", approval, answer };
  }

  async #afterAsking(
    settled: Settled,
    { call, open, subject }: { call: CallRequest; open: OpenCall; subject: CallSubject },
  ): Promise<CallOutcome | undefined> {
    if (settled.kind === "given_up") return undefined;
    const { id: approvalId, request } = settled.approval;
    if (settled.kind === "decided") return { ...byVerdict(settled.verdict), subject, approvalId };
    if (settled.kind === "expired")
      return { granted: false, decidedBy: "expired", reason: "Nobody answered in time.", subject, approvalId };
    const { answer } = settled;
    if (request.kind === "custom_tool") return { ...byClient(approvalId, answer), subject };
    const facts: EventDraft[] = [confirmation(request, answer)];
    const by = `person:${answer.by}`;
    if (answer.behavior === "deny")
      return {
        granted: false,
        decidedBy: by,
        reason: answer.message ?? `${answer.by} denied this call.`,
        subject,
        approvalId,
        facts,
      };
    const approvedInput = inputAsAnswered(call, answer) ?? inputAsApproved(call, request);
    const input = approvedInput && callWithPaths({ ...call, input: approvedInput }, this.#deps).input;
    // A person may edit what runs, but not into something that a rule denies. Links and files may have changed in the
    // meantime, so that the call would now reach something else.
    const now = this.#subject({ ...call, input: input ?? call.input });
    const verdict = await this.#judge(call, open, now);
    if (verdict.behavior === "deny") return { ...byVerdict(verdict), subject: now, approvalId, facts };
    const isShown = isAboutConfiguration(request.asked_by) || !isAboutConfiguration(verdict.decidedBy);
    if (namesSame(call, answer.input) && !(isShown && leadsTo(subject, now)))
      return { granted: false, decidedBy: "input:path", reason: MOVED, subject: now, approvalId, facts };
    const { overspent } = this.#deps.log.state;
    if (request.asked_by === SPENDING && overspent !== undefined)
      facts.push({ type: "capstan.budget_warned", ...overspent, agreed_by: answer.by });
    if (request.kind === "plan" && this.#parts.mode() === "plan")
      facts.push({ type: "capstan.mode_changed", mode: "normal" });
    return {
      granted: true,
      decidedBy: by,
      reason: `${answer.by} allowed this call.`,
      input,
      subject: now,
      approvalId,
      facts,
    };
  }

  async #judge(call: CallRequest, open: OpenCall, subject: CallSubject): Promise<PermissionVerdict> {
    const { record, rules, store } = this.#deps;
    // The workspace and its mounts exist by now.
    const limits = (this.#limits ??= sessionSandbox(this.#deps));
    const grants = await store.approvals.grants({ sessionId: record.id, project: record.project });
    const verdict = decide({
      enabled: this.#isEnabled(call, open),
      mode: this.#parts.mode(),
      rules,
      traits: call.traits,
      subject,
      sandboxed: limits.autoAllow && call.confined === true && runsConfined(subject, call.input, limits),
      limits,
      readable: call.readable,
      grants: grants.map(({ id, rule }) => ({ id, rule: parseRule(rule) })),
    });
    const { overspent } = this.#deps.log.state;
    // Questions, plans and custom tools go to a person or a client anyway, who must be able to answer.
    const isAskedAnyway = verdict.behavior === "deny" || verdict.kind !== "tool";
    return overspent === undefined || isAskedAnyway ? verdict : spendingVerdict(overspent);
  }

  #subject(call: CallRequest): CallSubject {
    return sessionSubject(call, this.#deps);
  }

  async #countGrant({ decidedBy }: PermissionVerdict): Promise<void> {
    if (decidedBy.startsWith("grant:")) await this.#deps.store.approvals.recordUse(decidedBy.slice("grant:".length));
  }

  /** A subagent has its own list of tools, or its agent's. The host's tools and the engine's internal ones are not listed. */
  #isEnabled({ tool, traits }: CallRequest, { threadId }: OpenCall): boolean {
    const { record, tools, log } = this.#deps;
    const { agent } = record;
    // The engine offers it in plan mode alone.
    if (tool === PLAN_TOOL) return true;
    const name = threadId === null ? undefined : log.state.threads[threadId]?.agentName;
    const own = name === undefined ? undefined : agent.subagents[name]?.tools;
    if (own !== undefined) return own.includes(tool) || traits.safeInternal;
    return (
      agent.tools.includes(tool) ||
      traits.safeInternal ||
      tool.startsWith("mcp__") ||
      tools.some((given) => given.name === tool)
    );
  }
}

/** Clients see a call as the model made it: a change would go unnoticed. */
const CHANGED_BY_HOOK: CallOutcome = {
  granted: false,
  decidedBy: "hook",
  reason: "A hook changed the input of this call, which its client would not see. A hook may only deny a custom tool.",
};

/** Who asks when so much of a limit is spent that a person must agree to spend more. */
const SPENDING = "budget:ask_at";

function spendingVerdict({ scope, which, limit, spent, at }: Crossing): PermissionVerdict {
  const share = `${Math.round(at * 100)} %`;
  const reason = `${share} of the ${scope}'s limit of ${limit} ${which} is spent (${Number(spent.toPrecision(4))}). Allow the call to continue spending.`;
  return { behavior: "ask", decidedBy: SPENDING, reason, rememberable: false, kind: "tool" };
}

function byVerdict({ behavior, decidedBy, reason }: PermissionVerdict): CallOutcome {
  return { granted: behavior === "allow", decidedBy, reason };
}
