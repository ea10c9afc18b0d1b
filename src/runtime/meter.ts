import type { Budget } from "../core/agent-definition.ts";
import { type LimitHit, limitOnModelRequest } from "../core/budget.ts";
import { threadId } from "../core/clock.ts";
import { type GatewaySession, type ModelRequestInfo, UNATTRIBUTED } from "../core/gateway.ts";
import { listPrice } from "../core/pricing.ts";
import { CapstanError } from "../core/errors.ts";
import type { ModelUsage } from "../core/events.ts";
import type { SessionLog } from "./session-log.ts";

const NOTHING: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

/** Meters a session's model requests: asked before each of them, told after it, and both are in the log. */
export function meter({ sessionId, log, budget, onLimit, onRefusal }: MeterDeps): GatewaySession {
  const started = new Map<string, ReturnType<typeof spanFields>>();
  return {
    sessionId,
    async reserve(request) {
      const hit = limitOnModelRequest(budget, log.state);
      if (hit !== undefined) {
        onLimit(hit);
        return { granted: false, message: `The session's limit of ${hit.limit} ${hit.which} is reached.` };
      }
      if (budget.usd !== undefined && listPrice(request.model, NOTHING) === null) {
        const message = `The model ${request.model} has no known price, so that the limit of ${budget.usd} USD cannot be kept. Limit its tokens instead.`;
        onRefusal(new CapstanError("unsupported", message));
        return { granted: false, message };
      }
      const fields = spanFields(sessionId, request);
      const [stored] = await log.append([{ type: "span.model_request_start", ...fields }]);
      const token = stored?.event.id ?? "";
      started.set(token, fields);
      return { granted: true, token };
    },
    async settle(token, outcome) {
      const fields = started.get(token);
      if (fields === undefined) return;
      started.delete(token);
      await log.append([
        {
          type: "span.model_request_end",
          ...fields,
          model_request_start_id: token,
          is_error: outcome.isError,
          model_usage: outcome.usage,
          usd: listPrice(fields.model, outcome.usage),
          http_status: outcome.status,
          stop_reason: outcome.stopReason,
          estimated: outcome.estimated,
        },
      ]);
    },
    credentialRejected(status, message) {
      const text = `The model API refused the credential (${status}): ${message} Check the key and what it may be used for.`;
      onRefusal(new CapstanError("credential_rejected", text, { data: { status } }));
    },
  };
}

export interface MeterDeps {
  readonly sessionId: string;
  readonly log: SessionLog;
  readonly budget: Budget;
  readonly onLimit: (hit: LimitHit) => void;
  /** The model cannot be asked at all: the turn is to end with this error, whatever the engine makes of it. */
  readonly onRefusal: (error: CapstanError) => void;
}

function spanFields(sessionId: string, { attributed, engineAgentId, model, requestClass }: ModelRequestInfo) {
  const thread = !attributed
    ? UNATTRIBUTED
    : engineAgentId === undefined
      ? undefined
      : threadId(sessionId, engineAgentId);
  return { ...(thread !== undefined && { session_thread_id: thread }), model, request_class: requestClass };
}
