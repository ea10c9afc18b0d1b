import type { Budget } from "../../core/agent/agent-definition.ts";
import { isOwnModel, modelsOf } from "../../core/agent/agent-models.ts";
import { type Amounts, type Crossing, crossingKey, isMeasured } from "../../core/money/budget-scopes.ts";
import {
  estimate,
  type Estimate,
  type Experience,
  NO_ESTIMATE,
  REMEMBERED_OUTPUTS,
  settledUsage,
} from "../../core/money/budget-estimate.ts";
import { limitText } from "../../core/session/session-limits.ts";
import type { LimitHit } from "../../core/money/budget-schema.ts";
import { type Clock, type Ids, threadId } from "../../core/ports/clock.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { type GatewaySession, type ModelRequestInfo } from "../../core/ports/gateway.ts";
import type { LedgerStore } from "../../core/money/ledger.ts";
import { listPrice, priceOf } from "../../core/money/pricing.ts";
import { type Budgets, reserveOutputTokens, scopesOf, unpricedModelError } from "./budgets.ts";
import type { SessionState } from "../../core/session/state.ts";
import type { SessionBasics, ToolSettings } from "../session-deps.ts";
import type { SessionLog } from "../log/session-log.ts";

export interface MeterHooks extends Pick<MeterDeps, "onLimit" | "onRefusal" | "onExpired"> {}

export interface MeterDeps {
  readonly sessionId: string;
  /** The agent's name. */
  readonly agent: string;
  readonly project: string;
  readonly log: SessionLog;
  readonly ledger: LedgerStore;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The fence of the lease under which the session is driven. */
  readonly fence: number;
  /** The limits in force now; they may change while the session is driven. */
  readonly budget: () => Budget;
  readonly budgets: Budgets;
  /** The models that the session may use, as its agent names them. */
  readonly models: () => readonly string[];
  /** Names of the host's own tools. */
  readonly hostTools: readonly string[];
  readonly onLimit: (hit: LimitHit) => void;
  /** The model cannot be asked at all: the turn ends with this error, whatever the engine reports. */
  readonly onRefusal: (error: CapstanError) => void;
  /** The credential has expired, and a request waits for a new one. */
  readonly onExpired: GatewaySession["credentialExpired"];
}

export type MeteredSession = SessionBasics & Pick<ToolSettings, "budgets" | "tools">;

/** The meter of a session. `chosen` is the model that a person is about to choose for it. */
export function meterOf(session: MeteredSession, hooks: MeterHooks, chosenModel: () => string | undefined): Meter {
  const { record, log, store, clock, ids, budgets, tools } = session;
  const metered = meter({
    sessionId: record.id,
    agent: record.agent.name,
    project: record.project,
    log,
    ledger: store.ledger,
    clock,
    ids,
    fence: log.fence,
    budget: () => record.agent.budget,
    budgets,
    models: () => modelsOf(record.agent, [log.state.model, chosenModel()]),
    hostTools: tools.map(({ name }) => name),
    ...hooks,
  });
  return { ...metered, provider: record.agent.auth };
}

type Fields = ReturnType<typeof spanFields>;

interface Started {
  readonly fields: Fields;
  readonly tools: readonly string[];
  readonly inputTokens: number;
  readonly held: Held;
}

interface Held extends Estimate {
  /** Null when the model has no known price. */
  readonly usd: number | null;
}

interface Meter extends GatewaySession {
  /** `beside`: events to store together with the start of the request. */
  reserve(
    request: ModelRequestInfo,
    beside?: (state: SessionState) => readonly EventDraft[],
  ): ReturnType<GatewaySession["reserve"]>;
}

/** Meters a session's model requests: reserves before each, settles after it, and stores both in the log. */
export function meter(deps: MeterDeps): Meter {
  const { sessionId, log, ledger, budgets, ids, clock } = deps;
  const started = new Map<string, Started>();
  let outputs: Promise<readonly number[]> | undefined;
  let experience: Experience = { outputs: [] };

  async function needOf({ model, size }: ModelRequestInfo): Promise<Held> {
    if (size === undefined) return { ...NO_ESTIMATE, usd: 0 };
    outputs ??= ledger.recentOutputs(sessionId, REMEMBERED_OUTPUTS);
    const known = { ...experience, outputs: [...experience.outputs, ...(await outputs)].slice(0, REMEMBERED_OUTPUTS) };
    const needed = estimate(size, { experience: known, reserveOutputTokens: reserveOutputTokens(budgets) });
    return { ...needed, usd: listPrice(model, needed.usage, budgets.prices) };
  }

  function scopes({ billing }: ModelRequestInfo) {
    const { agent, project } = deps;
    const all = scopesOf(budgets, { project, agent, budget: deps.budget(), now: clock.now() }).filter(isMeasured);
    // A rehearsal spends no money, so it counts only for its own session.
    return billing === "rehearsal" ? all.filter(({ scope }) => scope === "session") : all;
  }

  /** Undefined when the amount is reserved; otherwise the limit that forbids it. */
  async function hold(id: string, request: ModelRequestInfo, amounts: Amounts): Promise<LimitHit | undefined> {
    for (;;) {
      const limits = scopes(request);
      if (limits.length === 0) return undefined;
      // The ledger counts what is stored.
      await log.append([], { isEarly: true });
      const agreed = log.state.crossings ?? [];
      const verdict = await ledger.reserve({ id, sessionId, fence: deps.fence, amounts, scopes: limits, agreed });
      if (verdict.kind === "refused") return verdict.hit;
      if (verdict.kind === "granted") {
        await tell(verdict.warnings);
        return undefined;
      }
      // A person is asked before the next tool call; the request that makes the call is paid anyway.
      await tell([verdict.crossing]);
    }
  }

  async function tell(crossings: readonly Crossing[]): Promise<void> {
    if (crossings.every((crossing) => (log.state.crossings ?? []).includes(crossingKey(crossing)))) return;
    await log.append((state) =>
      crossings
        .filter((crossing) => !(state.crossings ?? []).includes(crossingKey(crossing)))
        .map((crossing): EventDraft => ({ type: "capstan.budget_warned", ...crossing })),
    );
  }

  return {
    sessionId,
    async reserve(request, beside = () => []) {
      if (!isOwnModel(request.model, deps.models())) {
        const error = notOwn(request, deps);
        deps.onRefusal(error);
        return { granted: false, message: error.message };
      }
      const limits = request.size === undefined ? [] : scopes(request);
      if (
        limits.some((scope) => scope.limits.usd !== undefined) &&
        priceOf(request.model, budgets.prices) === undefined
      ) {
        const error = unpricedModelError(request.model);
        deps.onRefusal(error);
        return { granted: false, message: error.message };
      }
      const id = ids.next("sevt");
      const held = await needOf(request);
      const { input, cache, output, usd } = held;
      const hit = limits.length === 0 ? undefined : await hold(id, request, { input, cache, output, usd: usd ?? 0 });
      if (hit !== undefined) {
        deps.onLimit(hit);
        return { granted: false, message: limitText(hit) };
      }
      const fields = spanFields(sessionId, request);
      try {
        // If the machine itself fails, a request under way may be missing from the log.
        const start = { type: "span.model_request_start" as const, id, ...fields };
        const estimated = { input, cache, output, usd };
        await log.append((state) => [{ ...start, estimate: estimated }, ...beside(state)], { isEarly: true });
      } catch (thrown) {
        // The request is not sent. If the release cannot be stored either, the reservation ends with the lease.
        await ledger.release(id).catch(() => {});
        throw thrown;
      }
      const { inputTokens = 0 } = request.size ?? {};
      started.set(id, { fields, held, inputTokens, tools: toolNames(request, deps.hostTools) });
      return { granted: true, token: id };
    },
    async settle(token, outcome) {
      const request = started.get(token);
      if (request === undefined) return;
      started.delete(token);
      const { fields, tools, inputTokens, held } = request;
      const usage = settledUsage(outcome, held);
      const price = listPrice(fields.model, usage, budgets.prices);
      if (outcome.proven === "all" && !outcome.isError && inputTokens > 0) {
        const recent = [usage.output_tokens, ...experience.outputs].slice(0, REMEMBERED_OUTPUTS);
        experience = { outputs: recent, last: { inputTokens, usage } };
      }
      // If the host dies before this is stored, the request counts as estimated.
      await log.appendSoon([
        {
          type: "span.model_request_end",
          ...fields,
          model_request_start_id: token,
          is_error: outcome.isError,
          model_usage: usage,
          // If nobody knows how the tokens were used, assume the most expensive way.
          usd: outcome.proven === "nothing" && price !== null ? Math.max(price, held.usd ?? 0) : price,
          http_status: outcome.status,
          stop_reason: outcome.stopReason,
          estimated: outcome.proven !== "all",
          ...(tools.length > 0 && { tools: [...tools] }),
        },
      ]);
    },
    credentialRejected({ status, message, remedy, isExpired }) {
      const isQuota = QUOTA.test(message);
      const what = isExpired
        ? "The model API no longer accepts the credential"
        : isQuota
          ? "The account may not spend more"
          : status === 401
            ? "The model API refused the credential"
            : "The model API refused access";
      const next = isQuota ? "Check the account's credit and limits, then send a message to continue." : remedy;
      const text = `${what} (${status}): ${message} ${next}`.trimEnd();
      const code = isExpired ? "credential_expired" : "credential_rejected";
      deps.onRefusal(new CapstanError(code, text, { data: { status }, retryable: isExpired }));
    },
    credentialExpired: deps.onExpired,
  };
}

/** Words that show an error is about money, not about the key. */
const QUOTA = /\b(?:quota|credits?|billing|balance|(?:usage|spend|spending) limit)\b/i;

function spanFields(sessionId: string, request: ModelRequestInfo) {
  const { engineAgentId, model, requestClass, billing } = request;
  const thread = engineAgentId === undefined ? undefined : threadId(sessionId, engineAgentId);
  return { ...(thread !== undefined && { session_thread_id: thread }), model, request_class: requestClass, billing };
}

function notOwn({ model }: ModelRequestInfo, { models }: MeterDeps): CapstanError {
  return new CapstanError(
    "unsupported",
    `${model} is not one of this agent's models (${models().join(", ")}), so it was not asked. To allow it, add it to the agent's definition as model, as fallback_model or as the model of a subagent.`,
    { data: { model } },
  );
}

/** The engine prefixes the host's tools with a server name. */
const HOST_PREFIX = "mcp__capstan__";

/** Tool names as users write them; each once, in the order of the results. */
function toolNames({ toolResults }: ModelRequestInfo, hostTools: readonly string[]): readonly string[] {
  const names = toolResults.map(
    ({ engineName }) => hostTools.find((name) => engineName === HOST_PREFIX + name) ?? engineName,
  );
  return [...new Set(names)];
}
