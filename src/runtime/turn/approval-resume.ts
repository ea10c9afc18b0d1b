import type { CallRequest, EngineStart, SubagentLine, TurnEnd } from "../../core/ports/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import { historyOf } from "../../core/session/history.ts";
import { askedCalls, type OpenCall } from "../../core/session/state.ts";
import { type Tool, type ToolOutcome, traitsOfTool } from "../../core/ports/tool.ts";
import { type ThreadRef, openLines, undecidedCalls } from "../../core/session/waiting-calls.ts";
import type { EngineSlot } from "../engine/engine-slot.ts";
import { inspectCutTurn } from "../calls/settle-work.ts";
import type { SessionBasics, ToolSettings } from "../session-deps.ts";
import { toolResult } from "../calls/call-events.ts";
import type { ToolCalls } from "../calls/tool-calls.ts";

export type RevivalDeps = Pick<SessionBasics, "log" | "store"> & Pick<ToolSettings, "tools">;

/**
 * Revives a turn that waited for people and whose process is gone. It drives each subagent that was at work to its end
 * in a process of its own, then runs the calls of the primary thread. Every call passes the same gate as ever, which
 * finds the answer. A call that ran before never runs again: the log has its outcome.
 */
export class Revival {
  readonly #deps: RevivalDeps;
  readonly #engine: EngineSlot;
  readonly #calls: ToolCalls;
  /** Resolves when the process at work is done; with undefined when it is gone. */
  #process: PromiseWithResolvers<TurnEnd | undefined> | undefined;
  #stop = new AbortController();

  constructor(deps: RevivalDeps, { engine, calls }: { engine: EngineSlot; calls: ToolCalls }) {
    this.#deps = deps;
    this.#engine = engine;
    this.#calls = calls;
  }

  /** A process works for the revival, so its end is not the end of the turn. */
  get isDriving(): boolean {
    return this.#process !== undefined;
  }

  /** Call this when the process at work has ended its turn, or is gone. */
  endProcess(end: TurnEnd | undefined): void {
    this.#process?.resolve(end);
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Stops waiting for whatever works; a later run takes up calls that nobody has decided. */
  letGo(): void {
    this.#stop.abort();
    // A process that serves one call or one thread would not take the session's next message.
    if (this.isDriving) this.#engine.kill();
    this.endProcess(undefined);
  }

  /** Whether some thread could continue now. */
  async isReady(): Promise<boolean> {
    for (const line of openLines(this.#deps.log.state)) if (await this.#canGoOn(line)) return true;
    return false;
  }

  /**
   * `ready`: every call of the primary thread has its outcome, and the model can be asked again. `waiting`: a person must
   * answer first. `gone`: the process that worked is gone, or the run was stopped.
   */
  async run(): Promise<"ready" | "waiting" | "gone"> {
    const stop = new AbortController();
    this.#stop = stop;
    // Look at all threads again after each: one may have done what another waited for.
    while (!stop.signal.aborted) {
      const { state } = this.#deps.log;
      const line = await this.#firstReady(openLines(state));
      if (line === undefined) return "waiting";
      if (!(await this.#runCalls(line, stop.signal))) return "gone";
      if (line === null) return "ready";
      if (!(await this.#finish(line))) return "gone";
    }
    return "gone";
  }

  async #firstReady(lines: readonly ThreadRef[]): Promise<ThreadRef | undefined> {
    for (const line of lines) if (await this.#canGoOn(line)) return line;
    return undefined;
  }

  async #canGoOn(line: ThreadRef): Promise<boolean> {
    const { log, store } = this.#deps;
    const isWaitedFor = Object.values(log.state.threads).some(
      (thread) => thread.parentThreadId === line && thread.status === "running",
    );
    if (isWaitedFor) return false;
    for (const [, call] of askedCalls(log.state)) {
      if (call.threadId !== line) continue;
      const approval = await store.approvals.get(call.approvalId ?? "");
      if (approval !== undefined && (await this.#calls.needsPerson(approval))) return false;
    }
    return true;
  }

  /** Runs the calls of the thread's last answer that nobody had decided. False when it could not finish. */
  async #runCalls(line: ThreadRef, signal: AbortSignal): Promise<boolean> {
    for (const [callId, call] of undecidedCalls(this.#deps.log.state, line)) {
      if (signal.aborted) return false;
      this.#calls.takeUpAgain(callId);
      const asked = await this.#request(callId);
      if (asked !== undefined) await this.#runHere(asked, signal);
      else if ((await this.#drive({ line, start: { kind: "call", callId } })) === undefined) return false;
      if (signal.aborted) return false;
      if (this.#deps.log.state.openCalls[callId]?.decision === "none") throw notTakenUp(call);
    }
    return true;
  }

  /** The host runs its own tools; that needs no process. */
  async #runHere({ tool, call }: HostCall, signal: AbortSignal): Promise<void> {
    const { callId } = call;
    const decision = await this.#calls.prepare(call, signal);
    // Stopped before anybody decided it: it has no outcome yet, and a later run takes it up.
    if (this.#deps.log.state.openCalls[callId]?.decision === "none") return;
    const outcome =
      decision.behavior === "deny"
        ? errorText(decision.message)
        : await untilAborted(
            this.#calls.execute({ tool, callId, input: decision.input ?? call.input }, signal),
            signal,
          );
    await this.#calls.finalize(
      { callId, content: outcome.content, isError: outcome.isError },
      { isStopping: signal.aborted },
    );
  }

  /** Undefined for a call that only the engine can run. */
  async #request(callId: string): Promise<HostCall | undefined> {
    const { log, tools } = this.#deps;
    const events = await log.events();
    const calls = events.flatMap(({ event }) =>
      event.type === "agent.tool_use" || event.type === "agent.custom_tool_use" ? [event] : [],
    );
    const made = calls.find((call) => call.call_id === callId);
    const tool = made && tools.find(({ name }) => name === made.name);
    if (made === undefined || tool === undefined) return undefined;
    return { tool, call: { callId, tool: tool.name, input: made.input, traits: traitsOfTool(tool) } };
  }

  /** Lets a subagent continue until it finishes, and gives its last message to the call that waits for it. */
  async #finish(threadId: string): Promise<boolean> {
    const { log } = this.#deps;
    const read = async () => (await log.events()).map(({ event }) => event);
    const cut = inspectCutTurn(await read(), threadId);
    let failure: string | undefined;
    if (cut.kind === "unfinished") {
      if (cut.withdraw !== undefined)
        await log.append([
          { type: "capstan.message_withdrawn", session_thread_id: threadId, message_id: cut.withdraw },
        ]);
      const end = await this.#drive({ line: threadId, start: { kind: "continue" } });
      if (end === undefined || end.outcome === "interrupted") return false;
      if (end.outcome !== "completed") failure = end.error?.message ?? `It ended: ${end.outcome}.`;
    }
    const last = historyOf(await read(), threadId).at(-1);
    const said =
      last?.kind === "model" ? last.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])) : [];
    const text = failure === undefined ? said.join("\n") : `[The subagent failed: ${failure}]`;
    const stored = await log.append((state) => {
      const thread = state.threads[threadId];
      const call = thread && state.openCalls[thread.callId];
      if (thread === undefined || call === undefined) return [];
      const isError = failure !== undefined;
      const outcome = isError ? "failed" : "completed";
      return [
        {
          type: "session.thread_status_idle",
          session_thread_id: threadId,
          agent_name: thread.agentName,
          stop_reason: { type: isError ? "retries_exhausted" : "end_turn" },
          stop_details: null,
        },
        toolResult(call, { callId: thread.callId, content: [{ type: "text", text }], isError, outcome }),
      ];
    });
    this.#calls.reportOutcomes(stored);
    return true;
  }

  /** Undefined when the process was gone before its work was done. */
  async #drive({ line, start }: { line: ThreadRef; start: EngineStart }): Promise<TurnEnd | undefined> {
    const { state } = this.#deps.log;
    const name = line === null ? undefined : state.threads[line]?.agentName;
    const driven: SubagentLine | undefined = line === null || name === undefined ? undefined : { threadId: line, name };
    const process = Promise.withResolvers<TurnEnd | undefined>();
    this.#process = process;
    try {
      await this.#engine.open({ start, ...(driven !== undefined && { line: driven }) });
      const end = await process.promise;
      if (end !== undefined) await this.#engine.close();
      return end;
    } finally {
      // When this one was lost, another may already be at work.
      if (this.#process === process) this.#process = undefined;
    }
  }
}

interface HostCall {
  readonly tool: Tool;
  readonly call: CallRequest;
}

/** Does not wait for a tool that ignores its signal; what such a tool still does is not reported. */
async function untilAborted(running: Promise<ToolOutcome>, signal: AbortSignal): Promise<ToolOutcome> {
  const { promise: aborted, resolve } = Promise.withResolvers<ToolOutcome>();
  const onAbort = (): void => resolve(errorText("[Interrupted: the call was stopped, and its outcome is unknown.]"));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([running, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function errorText(text: string): ToolOutcome {
  return { content: [{ type: "text", text }], isError: true };
}

function notTakenUp({ name }: OpenCall): CapstanError {
  return new CapstanError("engine_failed", `The engine did not take up the call of ${name} that was waiting.`);
}
