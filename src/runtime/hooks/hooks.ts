import type { z } from "zod";
import type { Mode } from "../../core/agent/agent-definition.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { CallRequest } from "../../core/ports/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft, StoredEvent } from "../../core/events/events.ts";
import { promptAnswer, toolAnswer } from "../../core/agent/hook-answers.ts";
import { callOf, hitBy } from "../../core/permission/match-call.ts";
import { textOf } from "../../core/text/text.ts";
import { sessionSubject } from "../subject/call-subject.ts";
import { AfterHooks } from "./hooks-after.ts";
import { type AskHook, askHooks, type Hook, type HookLists, listHooks } from "./hooks-list.ts";
import { hookRan, judge, runHook } from "./hooks-run.ts";
import { sessionSandbox } from "../protected/sandbox.ts";
import type {
  HookSources,
  SessionBasics,
  SessionPrograms,
  SessionSurroundings,
  SessionTools,
} from "../session-deps.ts";
import { tallyOf } from "../turn/turn.ts";

type Parts = SessionBasics & SessionSurroundings & HookSources & SessionPrograms & Pick<SessionTools, "tools">;

/** A call as the hooks left it, or the one that denied it. */
export type HookedCall =
  | { readonly kind: "passed"; readonly input: CallRequest["input"] }
  | { readonly kind: "denied"; readonly by: string; readonly reason: string }
  /** Whoever waited for the call is gone. */
  | { readonly kind: "given_up" };

/**
 * The hooks of one session. Those before something run one after another, each on what the one before left; a failure
 * denies unless the hook says otherwise, and nothing that a hook answers can allow. Each run is a fact in the log.
 */
export class UserHooks {
  readonly #parts: Parts;
  readonly #hooks: HookLists;
  readonly #ask: AskHook;
  readonly #after: AfterHooks;
  /** Aborts when the turn is to stop at once. */
  #turn = new AbortController();
  /** Messages are looked at in the order they were sent. */
  #prompts: Promise<unknown> = Promise.resolve();
  #promptsStop = new AbortController();
  /** Of ended turns. */
  #told: Promise<unknown> = Promise.resolve();
  /** Aborts when the session is another host's. */
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

  /** A call is being looked at, so that the turn does move. */
  get isLooking(): boolean {
    return this.#looking > 0;
  }

  /** A turn begins, or goes on after a pause. */
  begin(): void {
    this.#turn = new AbortController();
  }

  /** The turn is to stop at once: no hook of it runs on, and none is started. */
  stop(): void {
    this.#turn.abort();
  }

  /** Whether messages must be looked at before they are sent. */
  get seePrompts(): boolean {
    return this.#hooks.before_prompt.length > 0;
  }

  /** Whether outcomes of calls must be shown to a hook. */
  get seeOutcomes(): boolean {
    return this.#hooks.after_tool.length > 0;
  }

  /** The message that is to be stored and sent. Rejects with `hook_denied` when none is. */
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
      const problem = isEmpty(next) ? "It left nothing of the message." : undefined;
      const said = judge(hook, run, { isChange: !same(next, content), problem });
      await log.append([hookRan(hook, said)]);
      if (signal.aborted) break;
      if (said.denial !== undefined) throw deniedBy(hook, said.denial);
      if (said.outcome === "changed") content = next;
    }
    if (signal.aborted)
      throw new CapstanError(
        "hook_denied",
        "The message was not sent: the session was stopped before its hooks were done.",
      );
    return content;
  }

  /** To be called before permission is decided; what it leaves of the call is what rules and people see. */
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
        const said = judge(hook, run, { isChange: !same(next, input) });
        await log.append([hookRan(hook, said, { callId, threadId })]);
        if (signal.aborted) return { kind: "given_up" };
        if (said.denial !== undefined) return { kind: "denied", by: `hook:${hook.name}`, reason: said.denial };
        if (said.outcome === "changed") input = next;
      }
      return { kind: "passed", input };
    } finally {
      this.#looking -= 1;
    }
  }

  /** The call was decided about; this is its input from now on. */
  decided(call: Pick<CallRequest, "callId" | "tool" | "input">): void {
    this.#after.decided(call);
  }

  /** To be called with what was stored: hooks see every outcome among it. Does not wait. */
  afterTool(stored: readonly StoredEvent[], mode: Mode): void {
    this.#after.see(stored, { mode, signal: this.#turn.signal });
  }

  /** Resolves when the hooks that saw outcomes so far have run. */
  finished(): Promise<void> {
    return this.#after.finished();
  }

  /** To be called while the end of a turn is being written: what is to stand before it. */
  settled(): Promise<readonly EventDraft[]> {
    return this.#after.settled();
  }

  /** To be called with what was stored at the end of a turn. The next turn does not wait for these hooks. */
  turnEnded(stored: readonly StoredEvent[]): void {
    const end = stored.at(-1);
    if (end?.event.type !== "session.status_idle" || this.#hooks.on_turn_end.length === 0) return;
    const { stop_reason: stopReason } = end.event;
    this.#told = this.#told
      .then(() => tallyOf(this.#parts.store, { sessionId: this.#parts.record.id, end: end.seq }))
      .then(({ text, usage, usd }) => this.#tell("on_turn_end", { stopReason, text, usage, usd }))
      // A log that cannot be written makes itself known to whoever writes to it next.
      .catch(() => {});
  }

  /** Looks at no message any more; those that are being looked at are not sent. */
  stopPrompts(): void {
    this.#promptsStop.abort();
    this.#promptsStop = new AbortController();
  }

  /** The session ends here: waits for what is still to be told, then tells of the end. */
  async sessionEnded(): Promise<void> {
    await this.#told;
    const { turns, toolCalls, usage, usd } = this.#parts.log.state;
    await this.#tell("on_session_end", { turns, toolCalls, usage, usd });
  }

  /** The session is another host's now: nothing may go on, and nothing is written. */
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
      await log.append([hookRan(hook, judge(hook, run, { isChange: false }))]);
    }
  }

  /** Read as a deny rule is, so that a call which might be meant is seen. */
  #matches({ matcher }: Hook, call: Pick<CallRequest, "tool" | "input" | "directory">): boolean {
    if (matcher === undefined) return true;
    try {
      return hitBy(matcher, callOf(sessionSubject(call, this.#parts))) !== undefined;
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

/** As a message that a user sends is. */
export function isEmpty(content: MessageContent): boolean {
  return content.every((block) => block.type === "text" && block.text.trim() === "");
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function deniedBy({ name }: Hook, reason: string): CapstanError {
  return new CapstanError("hook_denied", `The message was not sent: ${reason}`, { data: { hook: name, reason } });
}
