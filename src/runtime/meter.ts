import type { Budget } from "../core/agent-definition.ts";
import { type LimitHit, limitOnModelRequest } from "../core/budget.ts";
import { threadId } from "../core/clock.ts";
import { type GatewaySession, type ModelRequestInfo, UNATTRIBUTED } from "../core/gateway.ts";
import { listPrice } from "../core/pricing.ts";
import type { SessionLog } from "./session-log.ts";

/** Meters a session's model requests: asked before each of them, told after it, and both are in the log. */
export function meter({ sessionId, log, budget, onLimit, onCredentialRejected }: MeterDeps): GatewaySession {
  const started = new Map<string, ReturnType<typeof spanFields>>();
  return {
    sessionId,
    async reserve(request) {
      const hit = limitOnModelRequest(budget, log.state);
      if (hit !== undefined) {
        onLimit(hit);
        return { granted: false, message: `The session's limit of ${hit.limit} ${hit.which} is reached.` };
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
    credentialRejected: onCredentialRejected,
  };
}

export interface MeterDeps {
  readonly sessionId: string;
  readonly log: SessionLog;
  readonly budget: Budget;
  readonly onLimit: (hit: LimitHit) => void;
  readonly onCredentialRejected: (status: number, message: string) => void;
}

function spanFields(sessionId: string, { attributed, engineAgentId, model, requestClass }: ModelRequestInfo) {
  const thread = !attributed
    ? UNATTRIBUTED
    : engineAgentId === undefined
      ? undefined
      : threadId(sessionId, engineAgentId);
  return { ...(thread !== undefined && { session_thread_id: thread }), model, request_class: requestClass };
}
