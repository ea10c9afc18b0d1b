import type { z } from "zod";
import type { Mode } from "../../core/agent/agent-definition.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { CallRequest } from "../../core/ports/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft, StoredEvent } from "../../core/events/events.ts";
import { promptAnswer, toolAnswer } from "../../core/agent/hook-answers.ts";
import { prepareCall, hitBy } from "../../core/permission/match-call.ts";
import { textOf } from "../../core/text/text.ts";
import { sessionSubject } from "../subject/call-subject.ts";
import { AfterHooks } from "./hooks-after.ts";
import { type AskHook, askHooks, type Hook, type HookLists, listHooks } from "./hooks-list.ts";
import { hookRanEvent, judgeRun, runHook } from "./hooks-run.ts";
import { sessionSandbox } from "../protected/sandbox.ts";
import type {
  HookSources,
  SessionBasics,
  SessionPrograms,
  SessionSurroundings,
  ToolSettings,
} from "../session-deps.ts";
import { tallyOf } from "../turn/turn.ts";

type Parts = SessionBasics & SessionSurroundings & HookSources & SessionPrograms & Pick<ToolSettings, "tools">;

/** The call after the hooks, or the denial by one of them. */
export type HookedCall =
  | { readonly kind: "passed"; readonly input: CallRequest["input"] }
  | { readonly kind: "denied"; readonly by: string; readonly reason: string }
  /** The caller stopped waiting. */
  | { readonly kind: "given_up" };

/**
 * The hooks of one session. Hooks that run before something run in sequence, each on the previous one's result. A
 * failure denies unless the hook says otherwise, and no answer of a hook can allow anything. Each run is an event in
 * the log.
 */
export class UserHooks {
  readonly #parts: Parts;
  readonly #hooks: HookLists;
  readonly #ask: AskHook;
  readonly #after: AfterHooks;
  /** Aborts when the turn must stop immediately. */
  #turn = new AbortController();
  /** Processes messages in the order they were sent. */
  #prompts: Promise<unknown> = Promise.resolve();
  #promptsStop = new AbortController();
  /** Hooks of turns that have ended. */
  #told: Promise<unknown> = Promise.resolve();
  /** Aborts when another host takes over the session. */
  readonly #life = new AbortController();
  #looking = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { record, stateDir, runHookCommand: run } = parts;
    const surroundings = () => ({ cwd: record.cwd, stateDir, sandbox: sessionSandbox(parts) });
    this.#ask = askHooks({ run, surroundings, programs: parts.programs });
    this.#hooks = listHooks({ commands: record.agent.hooks, functions: parts.givenHooks });
    this.#after = new AfterHooks(parts, {
      hooks: this.#hooks.after_tool,
      ask: this.#ask,
      matches: (hook, call) => this.#matches(hook, call),
      facts: this.#facts(),
      subagent: (threadId) => this.#subagent(threadId),
    });
  }

  /** Whether a hook is processing a call, which counts as progress of the turn. */
  get isLooking(): boolean {
    return this.#looking > 0;
  }

  /** Called when a turn begins or continues after a pause. */
  begin(): void {
    this.#turn = new AbortController();
  }

  /** Stops the turn's hooks immediately and starts no more. */
  stop(): void {
    this.#turn.abort();
  }

  /** Whether messages go through hooks before they are sent. */
  get seePrompts(): boolean {
    return this.#hooks.before_prompt.length > 0;
  }

  /** Whether any hook sees outcomes of calls. */
  get seeOutcomes(): boolean {
    return this.#hooks.after_tool.length > 0;
  }

  /** Returns the message to save and send. Rejects with `hook_denied` if a hook denies it. */
  beforePrompt(content: MessageContent): Promise<MessageContent> {
    const { signal } = this.#promptsStop;
    const looked = this.#prompts.then(() => this.#lookAtPrompt(content, AbortSignal.any([signal, this.#life.signal])));
    this.#prompts = looked.catch(() => {});
    return looked;
  }

  async #lookAtPrompt(given: MessageContent, signal: AbortSignal): Promise<MessageContent> {
    const { log, clock } = this.#parts;
    const ask = this.#ask;
    let content = given;
    for (const hook of this.#hooks.before_prompt) {
      if (signal.aborted) break;
      const facts = { ...this.#facts(), text: textOf(content), content };
      const run = await runHook(hook, facts, { ask, signal, clock, schema: promptAnswer });
      const next = run.answer === undefined ? content : withAnswer(content, run.answer);
      const problem = isEmpty(next) ? "The hook returned an empty message." : undefined;
      const said = judgeRun(hook, run, { isChange: !same(next, content), problem });
      await log.append([hookRanEvent(hook, said)]);
      if (signal.aborted) break;
      if (said.denial !== undefined) throw deniedBy(hook, said.denial);
      if (said.outcome === "changed") content = next;
    }
    if (signal.aborted)
      throw new CapstanError(
        "hook_denied",
        "The message was not sent: the session was stopped before its hooks finished.",
      );
    return content;
  }

  /** Call this before the permission decision; rules and people see the call as the hooks left it. */
  async beforeTool(
    call: CallRequest,
    { threadId, mode }: { threadId: string | null; mode: Mode },
    given: AbortSignal,
  ): Promise<HookedCall> {
    const { log, clock } = this.#parts;
    let { input } = call;
    if (this.#hooks.before_tool.length === 0) return { kind: "passed", input };
    const signal = AbortSignal.any([given, this.#turn.signal]);
    this.#looking += 1;
    try {
      for (const hook of this.#hooks.before_tool) {
        if (!this.#matches(hook, { ...call, input })) continue;
        const { callId, tool } = call;
        const facts = { ...this.#facts(), callId, tool, input, subagent: this.#subagent(threadId), mode };
        const run = await runHook(hook, facts, { ask: this.#ask, signal, clock, schema: toolAnswer });
        const next = run.answer !== undefined && "input" in run.answer ? run.answer.input : input;
        const said = judgeRun(hook, run, { isChange: !same(next, input) });
        await log.append([hookRanEvent(hook, said, { callId, threadId })]);
        if (signal.aborted) return { kind: "given_up" };
        if (said.denial !== undefined) return { kind: "denied", by: `hook:${hook.name}`, reason: said.denial };
        if (said.outcome === "changed") input = next;
      }
      return { kind: "passed", input };
    } finally {
      this.#looking -= 1;
    }
  }

  /** Records the decided call and its final input. */
  noteDecision(call: Pick<CallRequest, "callId" | "tool" | "input">): void {
    this.#after.noteDecision(call);
  }

  /** Shows every outcome among the stored events to the hooks. Does not wait. */
  afterTool(stored: readonly StoredEvent[], mode: Mode): void {
    this.#after.see(stored, { mode, signal: this.#turn.signal });
  }

  /** Resolves when the hooks for outcomes so far have run. */
  waitForHooks(): Promise<void> {
    return this.#after.waitForHooks();
  }

  /** Call this while the end of a turn is being written. Returns the events to write before it. */
  drainFacts(): Promise<readonly EventDraft[]> {
    return this.#after.drainFacts();
  }

  /** Runs the hooks for the end of a turn, given its stored events. The next turn does not wait for them. */
  turnEnded(stored: readonly StoredEvent[]): void {
    const end = stored.at(-1);
    if (end?.event.type !== "session.status_idle" || this.#hooks.on_turn_end.length === 0) return;
    const { stop_reason: stopReason } = end.event;
    this.#told = this.#told
      .then(() => tallyOf(this.#parts.store, { sessionId: this.#parts.record.id, end: end.seq }))
      .then(({ text, usage, usd }) => this.#tell("on_turn_end", { stopReason, text, usage, usd }))
      // The next write to the log will report the failure.
      .catch(() => {});
  }

  /** Stops processing messages; messages in progress are not sent. */
  stopPrompts(): void {
    this.#promptsStop.abort();
    this.#promptsStop = new AbortController();
  }

  /** Ends the session: waits for running hooks, then runs those for the session's end. */
  async sessionEnded(): Promise<void> {
    await this.#told;
    const { turns, toolCalls, usage, usd } = this.#parts.log.state;
    await this.#tell("on_session_end", { turns, toolCalls, usage, usd });
  }

  /** Another host took over the session: stops everything and writes nothing. */
  abandon(): void {
    this.stop();
    this.#life.abort();
  }

  async #tell(kind: "on_turn_end" | "on_session_end", facts: object): Promise<void> {
    const { log, clock } = this.#parts;
    const { signal } = this.#life;
    for (const hook of this.#hooks[kind]) {
      const run = await runHook(hook, { ...this.#facts(), ...facts }, { ask: this.#ask, signal, clock });
      if (signal.aborted) return;
      await log.append([hookRanEvent(hook, judgeRun(hook, run, { isChange: false }))]);
    }
  }

  /** Matches like a deny rule, so that a call that might match is seen. */
  #matches({ matcher }: Hook, call: Pick<CallRequest, "tool" | "input" | "directory">): boolean {
    if (matcher === undefined) return true;
    try {
      return hitBy(matcher, prepareCall(sessionSubject(call, this.#parts))) !== undefined;
    } catch {
      return true;
    }
  }

  #subagent(threadId: string | null): string | undefined {
    return threadId === null ? undefined : this.#parts.log.state.threads[threadId]?.agentName;
  }

  #facts(): { readonly sessionId: string; readonly agent: string; readonly cwd: string } {
    const { record } = this.#parts;
    return { sessionId: record.id, agent: record.agent.name, cwd: record.cwd };
  }
}

function withAnswer(content: MessageContent, answer: z.infer<typeof promptAnswer>): MessageContent {
  if ("content" in answer) return answer.content;
  if ("add" in answer) return [...content, { type: "text", text: answer.add }];
  if ("text" in answer) return [{ type: "text", text: answer.text }, ...content.filter(({ type }) => type !== "text")];
  return content;
}

/** Uses the same check as for a user's message. */
export function isEmpty(content: MessageContent): boolean {
  return content.every((block) => block.type === "text" && block.text.trim() === "");
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function deniedBy({ name }: Hook, reason: string): CapstanError {
  return new CapstanError("hook_denied", `The message was not sent: ${reason}`, { data: { hook: name, reason } });
}
