import type { EventDraft } from "../core/events/events.ts";
import { readToolName } from "./tool-names.ts";

/** The log entry for a call that the model makes. */
export function toolUseDraft(
  base: { readonly id?: string; readonly session_thread_id?: string; readonly message_id?: string },
  call: { readonly id: string; readonly name: string; readonly input: unknown },
  customTools: readonly string[] = [],
): EventDraft {
  const name = readToolName(call.name);
  const fields = {
    ...base,
    call_id: call.id,
    engine_name: call.name,
    input: (call.input ?? {}) as Record<string, unknown>,
  };
  if (name.kind === "mcp")
    return { type: "agent.mcp_tool_use", ...fields, name: name.tool, mcp_server_name: name.server };
  const isCustom = name.kind === "host" && customTools.includes(name.name);
  return { type: isCustom ? "agent.custom_tool_use" : "agent.tool_use", ...fields, name: name.name };
}
