import type { Budget } from "../core/agent-definition.ts";
import { type Amounts, type Crossing, crossingKey, isMeasured } from "../core/budget-scopes.ts";
import { estimate, type Experience, REMEMBERED_OUTPUTS } from "../core/budget-estimate.ts";
import { type LimitHit, limitText } from "../core/budget.ts";
import { type Clock, type Ids, threadId } from "../core/clock.ts";
import { CapstanError } from "../core/errors.ts";
import type { EventDraft } from "../core/events.ts";
import { type GatewaySession, type ModelRequestInfo, UNATTRIBUTED } from "../core/gateway.ts";
import type { LedgerStore } from "../core/ledger.ts";
import { listPrice, priceOf } from "../core/pricing.ts";
import { type Budgets, reserveOutputTokens, scopesOf, unpriced } from "./budgets.ts";
import type { SessionDeps } from "./session-deps.ts";
import type { SessionLog } from "./session-log.ts";

export interface MeterHooks extends Pick<MeterDeps, "onLimit" | "onRefusal" | "onExpired"> {}

export interface MeterDeps {
  readonly sessionId: string;
  /** The agent's name. */
  readonly agent: string;
  readonly log: SessionLog;
  readonly ledger: LedgerStore;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Of the lease under which the session is driven. */
  readonly fence: number;
  /** As it is in force now: it may change while the session is driven. */
  readonly budget: () => Budget;
  readonly budgets: Budgets;
  /** Names of the tools that the host itself lends the session. */
  readonly hostTools: readonly string[];
  readonly onLimit: (hit: LimitHit) => void;
  /** The model cannot be asked at all: the turn is to end with this error, whatever the engine makes of it. */
  readonly onRefusal: (error: CapstanError) => void;
  /** The credential has expired, and a request waits for another. */
  readonly onExpired: GatewaySession["credentialExpired"];
}

/** The meter of a session in motion. */
export function meterOf(session: SessionDeps, hooks: MeterHooks): GatewaySession {
  const { record, log, store, clock, ids, budgets, tools } = session;
  const metered = meter({
    sessionId: record.id,
    agent: record.agent.name,
    log,
    ledger: store.ledger,
    clock,
    ids,
    fence: log.fence,
    budget: () => record.agent.budget,
    budgets,
    hostTools: tools.map(({ name }) => name),
    ...hooks,
  });
  return { ...metered, provider: record.agent.auth };
}

type Fields = ReturnType<typeof spanFields>;

interface Started {
  readonly fields: Fields;
  readonly tools: readonly string[];
  readonly bytes: number;
}

/** Meters a session's model requests: asked before each of them, told after it, and both are in the log. */
export function meter(deps: MeterDeps): GatewaySession {
  const { sessionId, log, ledger, budgets, ids, clock } = deps;
  const started = new Map<string, Started>();
  let outputs: Promise<readonly number[]> | undefined;
  let experience: Experience = { outputs: [] };

  /** At the uncached price: whether the cache still holds the prompt is known only afterwards. */
  async function needOf(request: ModelRequestInfo): Promise<Amounts> {
    outputs ??= ledger.recentOutputs(sessionId, REMEMBERED_OUTPUTS);
    const known = { ...experience, outputs: [...experience.outputs, ...(await outputs)].slice(0, REMEMBERED_OUTPUTS) };
    const size = estimate(request, { experience: known, reserveOutputTokens: reserveOutputTokens(budgets) });
    const usage = {
      input_tokens: size.input + size.cache,
      output_tokens: size.output,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    };
    return { ...size, usd: listPrice(request.model, usage, budgets.prices) ?? 0 };
  }

  function scopes({ billing }: ModelRequestInfo) {
    const all = scopesOf(budgets, { agent: deps.agent, budget: deps.budget(), now: clock.now() }).filter(isMeasured);
    // A rehearsal spends nothing that others could miss.
    return billing === "rehearsal" ? all.filter(({ scope }) => scope === "session") : all;
  }

  /** Undefined when the amount is held, else why not. */
  async function hold(id: string, request: ModelRequestInfo, amounts: Amounts): Promise<LimitHit | undefined> {
    for (;;) {
      const limits = scopes(request);
      if (limits.length === 0) return undefined;
      const agreed = log.state.crossings ?? [];
      const verdict = await ledger.reserve({ id, sessionId, fence: deps.fence, amounts, scopes: limits, agreed });
      if (verdict.kind === "refused") return verdict.hit;
      if (verdict.kind === "granted") {
        await tell(verdict.warnings);
        return undefined;
      }
      // A person is asked before the next tool call; what that call was made of is spent anyway.
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
    async reserve(request) {
      const limits = scopes(request);
      if (
        limits.some((scope) => scope.limits.usd !== undefined) &&
        priceOf(request.model, budgets.prices) === undefined
      ) {
        const error = unpriced(request.model);
        deps.onRefusal(error);
        return { granted: false, message: error.message };
      }
      const id = ids.next("sevt");
      const amounts = await needOf(request);
      const hit = await hold(id, request, amounts);
      if (hit !== undefined) {
        deps.onLimit(hit);
        return { granted: false, message: limitText(hit) };
      }
      const fields = spanFields(sessionId, request);
      const { input, cache, output } = amounts;
      try {
        await log.append([{ type: "span.model_request_start", id, ...fields, estimate: { input, cache, output } }]);
      } catch (thrown) {
        // The request is not sent. If not even this can be stored, the reservation ends with the lease.
        await ledger.release(id).catch(() => {});
        throw thrown;
      }
      const { bytes } = request;
      started.set(id, { fields, bytes, tools: toolNames(request, deps.hostTools) });
      return { granted: true, token: id };
    },
    async settle(token, outcome) {
      const request = started.get(token);
      if (request === undefined) return;
      started.delete(token);
      const { fields, tools, bytes } = request;
      const { usage } = outcome;
      if (!outcome.estimated && !outcome.isError) {
        const recent = [usage.output_tokens, ...experience.outputs].slice(0, REMEMBERED_OUTPUTS);
        experience = { outputs: recent, last: { bytes, usage } };
      }
      await log.append([
        {
          type: "span.model_request_end",
          ...fields,
          model_request_start_id: token,
          is_error: outcome.isError,
          model_usage: usage,
          usd: listPrice(fields.model, usage, budgets.prices),
          http_status: outcome.status,
          stop_reason: outcome.stopReason,
          estimated: outcome.estimated,
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

/** Words of an answer that is about money, and not about the key. */
const QUOTA = /\b(?:quota|credits?|billing|balance|(?:usage|spend|spending) limit)\b/i;

function spanFields(sessionId: string, request: ModelRequestInfo) {
  const { attributed, engineAgentId, model, requestClass, billing } = request;
  const thread = !attributed
    ? UNATTRIBUTED
    : engineAgentId === undefined
      ? undefined
      : threadId(sessionId, engineAgentId);
  return { ...(thread !== undefined && { session_thread_id: thread }), model, request_class: requestClass, billing };
}

/** The engine puts the name of a server before a tool of the host. */
const HOST_PREFIX = "mcp__capstan__";

/** As users write them; each once, in the order of the results. */
function toolNames({ toolResults }: ModelRequestInfo, hostTools: readonly string[]): readonly string[] {
  const names = toolResults.map(
    ({ engineName }) => hostTools.find((name) => engineName === HOST_PREFIX + name) ?? engineName,
  );
  return [...new Set(names)];
}
