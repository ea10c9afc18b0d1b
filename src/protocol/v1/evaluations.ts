import type { LoggedEvent } from "../../core/events/events.ts";

/** The permission decision that the Managed Agents API shows with each tool call. */
export type EvaluatedPermission = "allow" | "ask" | "deny";

/** A logged event; a tool call includes its decision once that is known. */
export type EvaluatedEvent = LoggedEvent & { readonly evaluated_permission?: EvaluatedPermission };

const TOOL_USES: readonly string[] = ["agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"];

export function isToolUse({ type }: Pick<LoggedEvent, "type">): boolean {
  return TOOL_USES.includes(type);
}

/** Collects decisions, which follow their call in the log as separate events. */
export class Evaluations {
  readonly #permissions = new Map<string, EvaluatedPermission>();
  /** Calls without a decision. */
  readonly #open = new Set<string>();

  see(event: LoggedEvent): void {
    if (isToolUse(event) && !this.#permissions.has(event.id)) this.#open.add(event.id);
    switch (event.type) {
      case "capstan.approval_requested":
        // An MCP server's question comes while its call is already running.
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

  /** Whether the log may still contain a later decision about this call. */
  isOpen({ id }: LoggedEvent): boolean {
    return this.#open.has(id);
  }

  evaluate(event: LoggedEvent): EvaluatedEvent {
    const permission = isToolUse(event) ? this.#permissions.get(event.id) : undefined;
    return permission === undefined ? event : { ...event, evaluated_permission: permission };
  }

  /** A call that failed before any decision was denied, for example because its tool is disabled. */
  #end(toolUseId: string, { is_error: isError }: { readonly is_error?: boolean | null | undefined }): void {
    if (isError === true) this.#decide(toolUseId, "deny");
    this.#open.delete(toolUseId);
  }

  /** The first decision counts: a person's answer does not change that the call needed approval. */
  #decide(toolUseId: string, permission: EvaluatedPermission): void {
    if (!this.#permissions.has(toolUseId)) this.#permissions.set(toolUseId, permission);
    this.#open.delete(toolUseId);
  }
}
