import type { ModelRequestInfo } from "../core/ports/gateway.ts";
import { headerValue } from "./headers.ts";
import type { HeaderList } from "./upstreams/upstream.ts";

/**
 * The thread of the session that a request belongs to; undefined if it does not say. The headers come from the agent
 * process, so they label a request and never authorize it; values that don't look like a label are ignored.
 */
export function attributionOf(
  headers: HeaderList,
): Pick<ModelRequestInfo, "engineAgentId" | "requestClass"> | undefined {
  const agentId = headerValue(headers, "x-claude-code-agent-id");
  const engineAgentId = label(agentId);
  if (label(headerValue(headers, "x-claude-code-session-id")) === undefined) return undefined;
  if (agentId !== undefined && engineAgentId === undefined) return undefined;
  return { engineAgentId, requestClass: label(headerValue(headers, "x-claude-code-request-class")) ?? "unknown" };
}

function label(value: string | undefined): string | undefined {
  return value !== undefined && /^[\w.:-]{1,128}$/.test(value) ? value : undefined;
}
