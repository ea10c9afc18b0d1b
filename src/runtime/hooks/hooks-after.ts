import type { Mode } from "../../core/agent/agent-definition.ts";
import type { CallRequest } from "../../core/ports/engine.ts";
import type { EventDraft, EventOf, SessionEvent, StoredEvent } from "../../core/events/events.ts";
import type { AskHook, Hook } from "./hooks-list.ts";
import { hookRanEvent, judgeRun, runHook } from "./hooks-run.ts";
import type { SessionBasics } from "../session-deps.ts";

type Result = EventOf<"agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result">;
type Parts = Pick<SessionBasics, "log" | "clock">;
type RanCall = Pick<CallRequest, "callId" | "tool" | "input">;

interface AfterOptions {
  readonly hooks: readonly Hook[];
  readonly ask: AskHook;
  readonly matches: (hook: Hook, call: RanCall) => boolean;
  /** Facts that every hook of the session receives. */
  readonly facts: object;
  readonly subagent: (threadId: string | null) => string | undefined;
}

/** Runs the hooks that see outcomes. They run alongside the turn, which waits for them before it ends. */
export class AfterHooks {
  readonly #parts: Parts;
  readonly #options: AfterOptions;
  /** Calls in progress, with the input that they actually run with. */
  readonly #calls = new Map<string, RanCall>();
  readonly #running = new Set<Promise<void>>();
  /** Hook runs that are not in the log yet. */
  readonly #facts: EventDraft[] = [];

  constructor(parts: Parts, options: AfterOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Records the decided call and its final input. */
  noteDecision(call: RanCall): void {
    if (this.#options.hooks.length > 0) this.#calls.set(call.callId, call);
  }

  /** Shows every outcome among the stored events to the hooks. Does not wait. */
  see(stored: readonly StoredEvent[], { mode, signal }: { mode: Mode; signal: AbortSignal }): void {
    if (this.#options.hooks.length === 0) return;
    for (const { event } of stored) {
      if (!isResult(event)) continue;
      const run = this.#run(event, { mode, signal })
        // Only reading the log can fail here; the next write to the log will report that.
        .catch(() => {})
        .finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
  }

  /**
   * Resolves to the unlogged hook runs when all hooks have run. Safe to call while the log is being written: no hook
   * waits for the log.
   */
  async drainFacts(): Promise<readonly EventDraft[]> {
    await this.waitForHooks();
    this.#calls.clear();
    return this.#facts.splice(0);
  }

  /** Resolves when all hooks have run. */
  async waitForHooks(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #run(result: Result, { mode, signal }: { mode: Mode; signal: AbortSignal }): Promise<void> {
    const { log, clock } = this.#parts;
    const { hooks, ask, matches, facts, subagent } = this.#options;
    const { call_id: callId = "", outcome = "completed", content = [] } = result;
    const isError = result.is_error === true;
    const threadId = result.session_thread_id ?? null;
    const call = this.#calls.get(callId) ?? (await this.#fromLog(callId));
    this.#calls.delete(callId);
    if (call === undefined) return;
    for (const hook of hooks) {
      if (signal.aborted) return;
      if (!matches(hook, call)) continue;
      const about = { ...call, subagent: subagent(threadId), mode, outcome, content, isError };
      const run = await runHook(hook, { ...facts, ...about }, { ask, signal, clock });
      this.#facts.push(hookRanEvent(hook, judgeRun(hook, run, { isChange: false }), { callId, threadId }));
      log.append(() => this.#facts.splice(0)).catch(() => {});
    }
  }

  /** A call that another process started, as far as the log shows. */
  async #fromLog(callId: string): Promise<RanCall | undefined> {
    const events = (await this.#parts.log.events()).map(({ event }) => event);
    const made = events.findLast(
      (event) => "call_id" in event && event.call_id === callId && "input" in event && "name" in event,
    );
    const decided = events.findLast((event) => event.type === "capstan.permission_decided" && event.call_id === callId);
    const isCall =
      made?.type === "agent.tool_use" || made?.type === "agent.mcp_tool_use" || made?.type === "agent.custom_tool_use";
    if (!isCall) return undefined;
    const changed = decided?.type === "capstan.permission_decided" ? decided.input : undefined;
    return { callId, tool: made.name, input: changed ?? made.input };
  }
}

function isResult(event: SessionEvent): event is Result {
  return (
    event.type === "agent.tool_result" ||
    event.type === "agent.mcp_tool_result" ||
    event.type === "user.custom_tool_result"
  );
}
