import type { LoggedEvent, WireState } from "../../../src/client/index.ts";

/** Kinds of events, as people look for them. */

export type EventType = LoggedEvent["type"];
export type EventOf<T extends EventType> = Extract<LoggedEvent, { type: T }>;

export const GROUPS = ["messages", "tools", "decisions", "requests", "files", "session"] as const;
export type Group = (typeof GROUPS)[number];

export const GROUP_NAMES: Readonly<Record<Group, string>> = {
  messages: "Messages",
  tools: "Tools",
  decisions: "Decisions",
  requests: "Model requests",
  files: "Files",
  session: "Session",
};

const GROUP_OF: Readonly<Record<EventType, Group>> = {
  "user.message": "messages",
  "user.interrupt": "messages",
  "agent.message": "messages",
  "agent.thinking": "messages",
  "agent.thread_context_compacted": "messages",
  "capstan.input_delivered": "messages",
  "capstan.message_withdrawn": "messages",
  "agent.tool_use": "tools",
  "agent.mcp_tool_use": "tools",
  "agent.custom_tool_use": "tools",
  "agent.tool_result": "tools",
  "agent.mcp_tool_result": "tools",
  "user.custom_tool_result": "tools",
  "capstan.tool_progress": "tools",
  "capstan.hook_ran": "tools",
  "capstan.permission_decided": "decisions",
  "capstan.approval_requested": "decisions",
  "user.tool_confirmation": "decisions",
  "capstan.elicitation_settled": "decisions",
  "span.model_request_start": "requests",
  "span.model_request_end": "requests",
  "session.usage": "requests",
  "capstan.workspace_prepared": "files",
  "capstan.workspace_busy": "files",
  "capstan.workspace_exported": "files",
  "capstan.workspace_removed": "files",
  "capstan.checkpoint_taken": "files",
  "capstan.checkpoint_failed": "files",
  "capstan.configuration_changed": "files",
  "capstan.rewind_started": "files",
  "capstan.rewound": "files",
  "capstan.rewind_failed": "files",
  "capstan.resource_added": "files",
  "capstan.project_file_found": "files",
  "capstan.settings_withheld": "session",
  "capstan.programs_pinned": "session",
  "session.status_running": "session",
  "session.status_idle": "session",
  "session.status_rescheduled": "session",
  "session.status_terminated": "session",
  "session.error": "session",
  "session.updated": "session",
  "session.thread_created": "session",
  "session.thread_status_running": "session",
  "session.thread_status_idle": "session",
  "session.thread_status_terminated": "session",
  "capstan.prompt_rendered": "session",
  "capstan.inputs_given": "session",
  "capstan.limit_reached": "session",
  "capstan.budget_warned": "session",
  "capstan.budget_changed": "session",
  "capstan.model_changed": "session",
  "capstan.mode_changed": "session",
  "capstan.engine_changed": "session",
  "capstan.process_started": "session",
  "capstan.process_lost": "session",
  "capstan.session_forked": "session",
  "capstan.session_archived": "session",
};

/** Event types of a newer server count as session events. */
export function groupOf({ type }: { readonly type: EventType }): Group {
  return (GROUP_OF as Partial<Record<string, Group>>)[type] ?? "session";
}

/** The types to request from the server; undefined for all. */
export function typesOf(groups: ReadonlySet<Group>): string | undefined {
  if (groups.size === 0 || groups.size === GROUPS.length) return undefined;
  return Object.entries(GROUP_OF)
    .filter(([, group]) => groups.has(group))
    .map(([type]) => type)
    .join(",");
}

/** The thread of an event; null for the main thread. */
export function threadOf(event: LoggedEvent): string | null {
  return "session_thread_id" in event ? (event.session_thread_id ?? null) : null;
}

/** Names of subagents. Several of one agent are distinguished by the end of their ids. */
export function threadNames(threads: WireState["threads"]): ReadonlyMap<string, string> {
  const isShared = (name: string): boolean => threads.filter((one) => one.agent_name === name).length > 1;
  return new Map(
    threads.map(({ id, agent_name: name }) => [id, isShared(name) ? `${name} …${id.slice(-4)}` : name] as const),
  );
}

export type Doer =
  | { readonly kind: "user"; readonly name: string | undefined }
  | { readonly kind: "agent" }
  | { readonly kind: "subagent"; readonly threadId: string }
  | { readonly kind: "runtime" };

/** Who did it. Capstan's own notes about a subagent count as Capstan's. */
export function doerOf(event: LoggedEvent): Doer {
  if (event.type.startsWith("user.")) return { kind: "user", name: "by" in event ? event.by : undefined };
  if (!event.type.startsWith("agent.") && !event.type.startsWith("span.")) return { kind: "runtime" };
  const threadId = threadOf(event);
  return threadId === null ? { kind: "agent" } : { kind: "subagent", threadId };
}
