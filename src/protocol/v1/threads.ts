import type { EventOf, EventType, LoggedEvent, ModelUsage } from "../../core/events/events.ts";
import { addUsage } from "../../core/session/state-spend.ts";
import { initialState } from "../../core/session/state.ts";
import type { AgentRecord } from "../../core/ports/registry.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import { subagentThreadToWireV1, threadAgentToWireV1 } from "./agent-to-wire.ts";
import { type EvaluatedEvent, isToolUse } from "./evaluations.ts";
import { time } from "./fields.ts";
import { agentIdentity, rosterOf, seconds, usageToWireV1 } from "./session-to-wire.ts";

/** A session's threads in the Managed Agents API: the primary one, and one for each subagent. */

/** Events of the primary thread have no thread id, but the API requires one. */
export function primaryThreadId(sessionId: string): string {
  return `sthr_${sessionId.slice(sessionId.indexOf("_") + 1)}`;
}

interface Thread {
  readonly id: string;
  /** Undefined for the primary thread. */
  readonly agentName?: string;
  /** Null if the primary thread started it. */
  readonly parent: string | null;
  status: "running" | "idle" | "rescheduling" | "terminated";
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  updatedAt: number;
  /** When it started to run. */
  runningSince: number | undefined;
  activeMs: number;
  usage: ModelUsage;
  usd: number;
}

/** A session's threads, built from the log event by event. */
export class Threads {
  readonly #record: SessionRecord;
  readonly #threads = new Map<string, Thread>();
  readonly #primary: Thread;

  constructor(record: SessionRecord) {
    this.#record = record;
    this.#primary = newThread({ id: primaryThreadId(record.id), parent: null, at: record.createdAt });
  }

  add(event: LoggedEvent): void {
    switch (event.type) {
      case "session.thread_created":
        this.#addThread(event);
        break;
      case "session.thread_status_running":
      case "session.thread_status_idle":
      case "session.thread_status_terminated":
        turn(this.#threads.get(event.session_thread_id), statusOf(event.type), Date.parse(event.processed_at));
        break;
      case "session.status_running":
      case "session.status_idle":
      case "session.status_rescheduled":
      case "session.status_terminated":
        turn(this.#primary, statusOf(event.type), Date.parse(event.processed_at));
        break;
      case "span.model_request_end":
        this.#addUsage(event);
        break;
      default:
    }
  }

  /** The primary thread first, then the others in the order they started. */
  all(): readonly Thread[] {
    return [this.#primary, ...this.#threads.values()];
  }

  get(id: string): Thread | undefined {
    return this.all().find((thread) => thread.id === id);
  }

  view(thread: Thread, { agent, now }: { readonly agent: AgentRecord | undefined; readonly now: number }) {
    const { id, agentName, parent, status, createdAt, updatedAt } = thread;
    const record = this.#record;
    const active = seconds(thread.activeMs + (thread.runningSince === undefined ? 0 : now - thread.runningSince));
    const until = status === "terminated" ? updatedAt : now;
    return {
      type: "session_thread" as const,
      id,
      session_id: record.id,
      parent_thread_id: thread === this.#primary ? null : (parent ?? this.#primary.id),
      agent:
        agentName === undefined
          ? threadAgentToWireV1(record.agent, agentIdentity(record, agent))
          : subagentThreadToWireV1(record.agent, agentName, rosterOf(record, agent)),
      status,
      stats: { active_seconds: active, duration_seconds: seconds(until - createdAt), startup_seconds: 0 },
      usage: { ...usageToWireV1(thread.usage, thread.usd), active_seconds: active },
      workflow_run_id: null,
      created_at: time(createdAt),
      updated_at: time(updatedAt),
      archived_at: null,
    };
  }

  #addThread(event: EventOf<"session.thread_created">): void {
    const { session_thread_id: id, agent_name: agentName, parent_thread_id: parent } = event;
    const at = Date.parse(event.processed_at);
    const thread = newThread({ id, agentName, parent, at });
    turn(thread, "running", at);
    this.#threads.set(id, thread);
  }

  #addUsage(event: EventOf<"span.model_request_end">): void {
    const { session_thread_id: id } = event;
    // A request without a thread counts only for the session.
    const thread = id == null ? this.#primary : this.#threads.get(id);
    if (thread === undefined) return;
    thread.usage = addUsage(thread.usage, event.model_usage);
    thread.usd += event.usd ?? 0;
  }
}

function newThread({ at, ...named }: Pick<Thread, "id" | "agentName" | "parent"> & { readonly at: number }): Thread {
  const nothing = { runningSince: undefined, activeMs: 0, usage: initialState.usage, usd: 0 };
  return { ...named, status: "idle", createdAt: at, updatedAt: at, ...nothing };
}

function turn(thread: Thread | undefined, status: Thread["status"], at: number): void {
  if (thread === undefined) return;
  if (thread.runningSince !== undefined) thread.activeMs += Math.max(0, at - thread.runningSince);
  thread.runningSince = status === "running" ? at : undefined;
  thread.status = status;
  thread.updatedAt = at;
}

function statusOf(type: LoggedEvent["type"]): Thread["status"] {
  if (type.endsWith("_running")) return "running";
  if (type.endsWith("_rescheduled")) return "rescheduling";
  return type.endsWith("_terminated") ? "terminated" : "idle";
}

/**
 * Whether a thread's own list and stream include an event. A subagent's status appears on its own thread and on the
 * primary one; its start appears on the thread that started it.
 */
export function isOnThread(event: LoggedEvent, threadId: string, primary: string): boolean {
  const isPrimary = threadId === primary;
  if (event.type === "session.thread_created")
    return event.parent_thread_id === null ? isPrimary : event.parent_thread_id === threadId;
  const own = "session_thread_id" in event ? event.session_thread_id : undefined;
  if (event.type.startsWith("session.thread_status_")) return isPrimary || own === threadId;
  return own == null ? isPrimary : own === threadId;
}

/** A subagent's calls that need a person or client, and the cost of its model requests. */
const CROSS_POSTED: readonly EventType[] = [
  "capstan.approval_requested",
  "capstan.elicitation_settled",
  "user.tool_confirmation",
  "user.custom_tool_result",
  "span.model_request_start",
  "span.model_request_end",
];

/**
 * Whether a session's list and stream include an event: the primary thread, the status of each subagent, and those of
 * its calls that need an answer. A subagent's other events are on its own thread.
 */
export function isOnSession(event: EvaluatedEvent): boolean {
  const own = "session_thread_id" in event ? event.session_thread_id : undefined;
  if (own == null || event.type.startsWith("session.thread_")) return true;
  return isToolUse(event) ? event.evaluated_permission === "ask" : CROSS_POSTED.includes(event.type);
}
