import { crossingKey } from "../money/budget-scopes.ts";
import type { EventOf, ModelUsage } from "../events/events.ts";
import type { OpenRequest, SessionState } from "./state.ts";

/** Model requests in a session's state. */

export function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  const oneHour = (a.cache_creation_1h_input_tokens ?? 0) + (b.cache_creation_1h_input_tokens ?? 0);
  const searches = (a.web_search_requests ?? 0) + (b.web_search_requests ?? 0);
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
    ...(oneHour > 0 && { cache_creation_1h_input_tokens: oneHour }),
    ...(searches > 0 && { web_search_requests: searches }),
  };
}

export function openRequest(state: SessionState, event: EventOf<"span.model_request_start">): SessionState {
  const { session_thread_id: thread, model, request_class: requestClass, billing, estimate } = event;
  const request: OpenRequest = {
    ...(thread != null && { session_thread_id: thread }),
    model,
    request_class: requestClass,
    ...(billing !== undefined && { billing }),
    ...(estimate !== undefined && { estimate }),
  };
  return { ...state, openRequests: { ...state.openRequests, [event.id]: request } };
}

export function settleRequest(state: SessionState, event: EventOf<"span.model_request_end">): SessionState {
  const { openRequests: { [event.model_request_start_id]: _settled, ...open } = {}, ...rest } = state;
  const unpriced = (state.unpricedRequests ?? 0) + (event.usd === null ? 1 : 0);
  return {
    ...rest,
    usage: addUsage(state.usage, event.model_usage),
    usd: state.usd + (event.usd ?? 0),
    ...(unpriced > 0 && { unpricedRequests: unpriced }),
    ...(Object.keys(open).length > 0 && { openRequests: open }),
  };
}

export function withCrossing(state: SessionState, event: EventOf<"capstan.budget_warned">): SessionState {
  const key = crossingKey(event);
  const crossings = [...new Set([...(state.crossings ?? []), key])];
  if (event.kind === "warn") return { ...state, crossings };
  const { overspent: _asked, ...rest } = state;
  if (event.agreed_by !== undefined) return { ...rest, crossings };
  const { kind, scope, which, limit, spent, at, day } = event;
  return { ...rest, crossings, overspent: { kind, scope, which, limit, spent, at, ...(day !== undefined && { day }) } };
}
