import { CapstanError } from "../../../core/errors.ts";
import { modelError } from "../../model-failure.ts";
import { askModel, type Asker } from "../model/ask-model.ts";
import { RequestFailure } from "../model/failure.ts";
import { modelToAsk } from "../model/model-to-ask.ts";
import { requestOf, type SystemPrompt } from "../model/request.ts";
import { inputOf } from "../model/tally.ts";
import type { Answer } from "../model/wire.ts";
import type { BuiltinTool } from "../tools/builtin-tool.ts";
import { type MadeCall, runCalls } from "./calls.ts";
import { compactItems, estimatedTokens, isFull } from "./compaction.ts";
import { modelAnswers, callsOf, type Item, messagesOf } from "./conversation.ts";
import { recordAnswer } from "./record.ts";
import {
  CALL_CUT,
  CUT,
  EMPTY,
  type LineEnd,
  MAX_CUTS,
  MAX_OUTPUT_ATTEMPTS,
  NO_MATCH,
  NO_OUTPUT,
  Run,
  answerText,
} from "./run.ts";
import type { Workplace } from "./workplace.ts";

/** Describes one thread of a session: the primary one, or a subagent's. */
export interface LineSpec {
  readonly threadId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly parentAgentId?: string | undefined;
  readonly system: () => SystemPrompt;
  readonly model: () => string;
  /** Used when the model is overloaded. */
  readonly fallback?: string | undefined;
  /** The tools that the thread is offered. */
  readonly tools: () => readonly BuiltinTool[];
  /** Takes the messages that wait for the thread into its conversation. */
  readonly takeMessages?: () => readonly Extract<Item, { kind: "user" }>[];
  /** How many model requests one run may make. */
  readonly steps?: number | undefined;
  /** The structured output that the thread must give. */
  readonly output?: LineOutput | undefined;
}

export interface LineOutput {
  /** The model's output; undefined until it is given. */
  readonly givenValue: () => { readonly value: unknown } | undefined;
  readonly tool: string;
}

/** One thread: asks the model, runs its calls, and repeats until the model is done. */
export class Line {
  readonly #place: Workplace;
  readonly #spec: LineSpec;
  #items: Item[];
  /** The conversation's tokens as last counted by the API. */
  #used = 0;
  /** The first such count after the last compaction. */
  #least: number | undefined = 0;
  /** How many items this count includes. */
  #counted = 0;
  /** Call → the event that announces it. */
  readonly #eventOfCall = new Map<string, string>();

  constructor(place: Workplace, spec: LineSpec, items: readonly Item[]) {
    this.#place = place;
    this.#spec = spec;
    this.#items = [...items];
    for (const item of modelAnswers(items)) for (const { id } of callsOf(item)) place.callIds.add(id);
  }

  add(item: Item): void {
    this.#items.push(item);
  }

  /** The event that announced a call of this thread. */
  eventOf(callId: string): string {
    return this.#eventOfCall.get(callId) ?? callId;
  }

  async run(signal: AbortSignal): Promise<LineEnd> {
    const run = new Run();
    try {
      for (;;) {
        const end = await this.#step(run, signal);
        if (end !== undefined) return end;
      }
    } catch (thrown) {
      if (signal.aborted) return { outcome: "interrupted", text: "" };
      if (thrown instanceof RequestFailure) return { outcome: "failed", error: thrown.error, text: "" };
      if (thrown instanceof CapstanError) return { outcome: "failed", error: thrown, text: "" };
      throw thrown;
    }
  }

  /** Runs one waiting call of the last answer. */
  async runWaiting(callId: string, signal: AbortSignal): Promise<void> {
    const owner = this.#items.findLast(
      (item) => item.kind === "model" && callsOf(item).some(({ id }) => id === callId),
    );
    const call = owner?.kind === "model" ? callsOf(owner).find(({ id }) => id === callId) : undefined;
    if (call === undefined) throw new CapstanError("engine_failed", `The log does not contain call ${callId}.`);
    const { name, input } = call;
    await this.#runCalls([{ callId, name, input: input as Record<string, unknown>, written: "" }], signal);
  }

  /** Replaces earlier items with a summary. Rejects if the model gives none. */
  async compact(trigger: "manual" | "auto", signal: AbortSignal): Promise<void> {
    const { items, tokens } = await compactItems(this.#items, {
      trigger,
      tokensBefore: this.#tokens(),
      place: this.#place,
      spec: this.#spec,
      asker: this.#asker(),
      signal,
    });
    this.#items = [...items];
    this.#used = tokens;
    this.#least = undefined;
    this.#counted = items.length;
  }

  /** One model request and what follows from its answer. Undefined: the thread continues. */
  async #step(run: Run, signal: AbortSignal): Promise<LineEnd | undefined> {
    const { steps, output } = this.#spec;
    if (signal.aborted) return { outcome: "interrupted", text: "" };
    if (steps !== undefined && run.steps >= steps) return { outcome: "steps", text: "" };
    run.steps += 1;
    if (this.#isFull()) await this.compact("auto", signal);
    await this.#takeMessages();
    const answer = await this.#ask(run, signal);
    if (answer === undefined) return undefined;
    if (answer.stopReason === "refusal") return { outcome: "refused", text: "" };
    const calls = await this.#record(answer);
    if (answer.stopReason === null) return { outcome: "interrupted", text: "" };
    run.isPaused = answer.stopReason === "pause_turn";
    const end =
      calls.length > 0
        ? await this.#afterCalls(calls, { run, answer, signal })
        : await this.#afterWords(answer, { run, output, signal });
    return end?.outcome !== "interrupted" && this.#isSpent() ? { outcome: "budget", text: "" } : end;
  }

  async #afterCalls(
    calls: readonly MadeCall[],
    { run, answer, signal }: { readonly run: Run; readonly answer: Answer; readonly signal: AbortSignal },
  ): Promise<LineEnd | undefined> {
    const { output } = this.#spec;
    const results = await this.#runCalls(calls, signal);
    if (signal.aborted) return { outcome: "interrupted", text: "" };
    const given = output?.givenValue();
    if (given !== undefined) return { outcome: "completed", output: given.value, text: answerText(answer.blocks) };
    if (output !== undefined && calls.some(({ name }) => name === output.tool)) run.outputAttempts += 1;
    if (run.outputAttempts >= MAX_OUTPUT_ATTEMPTS) return NO_MATCH;
    const note = run.repetition.note(calls, results);
    if (note !== undefined) this.add({ kind: "note", text: note });
    if (answer.isCallCut) this.add({ kind: "note", text: CALL_CUT });
    run.cuts = 0;
    return undefined;
  }

  async #afterWords(
    answer: Answer,
    {
      run,
      output,
      signal,
    }: { readonly run: Run; readonly output: LineOutput | undefined; readonly signal: AbortSignal },
  ): Promise<LineEnd | undefined> {
    if (run.isPaused) return undefined;
    if (answer.stopReason === "model_context_window_exceeded") {
      await this.compact("auto", signal);
      return undefined;
    }
    if (answer.stopReason === "max_tokens" || answer.isCallCut) {
      run.cuts += 1;
      if (run.cuts > MAX_CUTS)
        return { outcome: "failed", error: modelError(null, { kind: "max_output_tokens" }), text: "" };
      this.add({ kind: "note", text: answer.isCallCut ? CALL_CUT : CUT });
      return undefined;
    }
    if (answer.blocks.every(({ type }) => type === "thinking") && !run.wasEmpty) {
      run.wasEmpty = true;
      this.add({ kind: "note", text: EMPTY });
      return undefined;
    }
    if (output === undefined) return { outcome: "completed", text: answerText(answer.blocks) };
    run.outputAttempts += 1;
    if (run.outputAttempts >= MAX_OUTPUT_ATTEMPTS) return NO_OUTPUT;
    this.add({ kind: "note", text: `[Call ${output.tool} now to give your final answer.]` });
    return undefined;
  }

  /** An answer may cost more than the gateway reserved for it. */
  #isSpent(): boolean {
    const { usd } = this.#place.request.agent.budget;
    return usd !== undefined && this.#spec.agentId === undefined && this.#place.tally.usd >= usd;
  }

  async #takeMessages(): Promise<void> {
    const messages = this.#spec.takeMessages?.() ?? [];
    for (const message of messages) this.add(message);
    if (messages.length > 0)
      await this.#place.host.emit({ kind: "delivered", eventIds: messages.map(({ eventId }) => eventId) });
  }

  /** Undefined when the conversation had to be shortened first. */
  async #ask(run: Run, signal: AbortSignal): Promise<Answer | undefined> {
    const { request, tally, media } = this.#place;
    const spec = this.#spec;
    const isPrimary = spec.agentId === undefined;
    const asked = this.#items.length;
    const common = {
      system: spec.system(),
      tools: spec.tools(),
      messages: media.without(messagesOf(this.#items, run)),
      settings: request.agent,
    };
    try {
      const answer = await askModel(
        {
          request: (name) => requestOf(common, modelToAsk(name)),
          model: spec.model(),
          fallback: spec.fallback,
          requestClass: isPrimary ? "main" : "subagent",
          betas: this.#place.betas(modelToAsk(spec.model())),
          isShown: isPrimary,
        },
        this.#asker(),
        signal,
      );
      tally.add(answer);
      media.accept(common.messages);
      this.#used = inputOf(answer.usage) + answer.usage.output_tokens;
      this.#least ??= this.#used;
      this.#counted = asked + 1;
      run.overflows = 0;
      return answer;
    } catch (thrown) {
      const isShorter = await media.leavesOut(thrown, common.messages, this.#asker());
      if (!isShorter && (!(thrown instanceof RequestFailure) || !thrown.isOverflow || run.overflows > 0)) throw thrown;
      run.steps -= 1;
      if (isShorter) return undefined;
      run.overflows += 1;
      await this.compact("auto", signal);
      return undefined;
    }
  }

  async #record(answer: Answer): Promise<readonly MadeCall[]> {
    const { item, calls } = await recordAnswer(answer, {
      place: this.#place,
      threadId: this.#spec.threadId,
      items: this.#items,
      eventOfCall: this.#eventOfCall,
    });
    if (item !== undefined) this.add(item);
    return calls;
  }

  async #runCalls(calls: readonly MadeCall[], signal: AbortSignal): Promise<Awaited<ReturnType<typeof runCalls>>> {
    const { host, checks, session } = this.#place;
    const offered = this.#spec.tools();
    const others = session.tools.filter(({ name }) => !offered.some((tool) => tool.name === name));
    const results = await runCalls(
      calls,
      {
        host,
        checks,
        threadId: this.#spec.threadId,
        tools: [...offered, ...others],
        readable: session.readable,
        isConfined: session.isConfined,
      },
      signal,
    );
    const owner = this.#items.findLast((item) => item.kind === "model");
    if (owner?.kind === "model") owner.results.push(...results);
    return results;
  }

  #isFull(): boolean {
    const { compact_at: at } = this.#place.request.agent;
    return isFull(this.#tokens(), { model: modelToAsk(this.#spec.model()), at, least: this.#least ?? 0 });
  }

  #tokens(): number {
    return this.#used + estimatedTokens(this.#items.slice(this.#counted));
  }

  #asker(): Asker {
    const { request, host, retries } = this.#place;
    const { threadId, agentId, parentAgentId } = this.#spec;
    return { sessionId: request.sessionId, gateway: request.gateway, host, retries, threadId, agentId, parentAgentId };
  }
}
