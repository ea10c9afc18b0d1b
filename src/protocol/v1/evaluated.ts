import type { LoggedEvent } from "../../core/events/events.ts";

/** The Managed Agents API shows with each tool call what the permission rules made of it. */
export type EvaluatedPermission = "allow" | "ask" | "deny";

/** A logged event; a tool call comes with what was decided about it, once that is known. */
export type EvaluatedEvent = LoggedEvent & { readonly evaluated_permission?: EvaluatedPermission };

const TOOL_USES: readonly string[] = ["agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"];

export function isToolUse({ type }: Pick<LoggedEvent, "type">): boolean {
  return TOOL_USES.includes(type);
}

/** Collects decisions, which the log holds in events of their own behind the call. */
export class Evaluations {
  readonly #permissions = new Map<string, EvaluatedPermission>();
  /** Calls without a decision. */
  readonly #open = new Set<string>();

  see(event: LoggedEvent): void {
    if (isToolUse(event) && !this.#permissions.has(event.id)) this.#open.add(event.id);
    switch (event.type) {
      case "capstan.approval_requested":
        // A question of an MCP server comes while its call already runs.
        if (event.server === undefined) this.#decide(event.tool_use_id, "ask");
        break;
      case "capstan.permission_decided":
        this.#decide(event.tool_use_id, event.decision);
        break;
      case "agent.tool_result":
        this.#end(event.tool_use_id, event);
        break;
      case "agent.mcp_tool_result":
        this.#end(event.mcp_tool_use_id, event);
        break;
      case "session.status_idle":
      case "session.status_rescheduled":
      case "session.status_terminated":
        this.#open.clear();
        break;
      default:
    }
  }

  /** Whether a decision on this call may still follow in the log. */
  isOpen({ id }: LoggedEvent): boolean {
    return this.#open.has(id);
  }

  evaluated(event: LoggedEvent): EvaluatedEvent {
    const permission = isToolUse(event) ? this.#permissions.get(event.id) : undefined;
    return permission === undefined ? event : { ...event, evaluated_permission: permission };
  }

  /** A call that failed before anything was decided was refused: its tool is not enabled, say. */
  #end(toolUseId: string, { is_error: isError }: { readonly is_error?: boolean | null | undefined }): void {
    if (isError === true) this.#decide(toolUseId, "deny");
    this.#open.delete(toolUseId);
  }

  /** The first decision counts: a person's answer does not change that the call was asked about. */
  #decide(toolUseId: string, permission: EvaluatedPermission): void {
    if (!this.#permissions.has(toolUseId)) this.#permissions.set(toolUseId, permission);
    this.#open.delete(toolUseId);
  }
}
