import { createHash } from "node:crypto";
import type { Mode } from "../../core/agent/agent-definition.ts";
import { engineAgentIdOf } from "../../core/ports/clock.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { EngineHost, EngineRequest, EngineSession, TurnEnd } from "../../core/ports/engine.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { outputTool, planTool } from "./line-tools.ts";
import { conversationItem } from "./line/conversation.ts";
import { Line } from "./line/line.ts";
import type { LineEnd } from "./line/run.ts";
import type { Workplace } from "./line/workplace.ts";
import { modelToAsk } from "./model/model-to-ask.ts";
import { BASE_PROMPT, primaryPrompt } from "./prompt.ts";
import { isOfAgent, Subagents } from "./subagents.ts";
import type { BuiltinTool } from "./tools/builtin-tool.ts";
import { webSearchTool } from "./tools/web-search.ts";

type Told = Pick<EngineSession, "sandbox" | "sandboxMissing" | "outside">;

interface Message {
  readonly eventId: string;
  readonly content: MessageContent;
}

/** The work of one turn. */
type Job =
  | { readonly kind: "talk" }
  | { readonly kind: "compact" }
  | { readonly kind: "call"; readonly callId: string };

/** One open session. It is only a conversation in memory until it gets a request. */
export class DirectSession implements EngineSession {
  readonly history: EngineSession["history"];
  readonly contained: boolean;
  readonly sandbox?: NonNullable<EngineSession["sandbox"]>;
  readonly sandboxMissing?: string;
  readonly outside?: readonly string[];
  readonly #place: Workplace;
  readonly #host: EngineHost;
  readonly #line: Line;
  readonly #subagents: Subagents;
  readonly #output: ReturnType<typeof outputTool> | undefined;
  readonly #version: string;
  readonly #onEnd: () => void;
  readonly #day: string;
  readonly #jobs: Job[] = [];
  readonly #messages: Message[] = [];
  #model: string;
  #mode: Mode;
  /** Of the current turn. */
  #abort = new AbortController();
  /** Settled when the current work ends; undefined while there is none. */
  #work: PromiseWithResolvers<void> | undefined;
  #pump: Promise<void> | undefined;
  #isClosed = false;
  /** The last `capstan.prompt_rendered`, so that it is emitted again only when it changes. */
  #rendered = "";

  constructor(
    place: Omit<Workplace, "host">,
    {
      host,
      version,
      day,
      told,
      onEnd,
    }: { host: EngineHost; version: string; day: string; told: Told; onEnd: () => void },
  ) {
    const { request } = place;
    this.#host = this.#whileOpen(host);
    this.#place = { ...place, host: this.#host };
    this.#version = version;
    this.#onEnd = onEnd;
    this.#day = day;
    this.#model = request.model;
    this.#mode = request.mode;
    // The log is this engine's transcript.
    this.history = request.history.length === 0 ? "new" : "resumed";
    this.contained = place.session.isContained;
    Object.assign(this, told);
    this.#subagents = new Subagents(this.#place, () => this.#model);
    const { output_schema: schema } = request.agent;
    this.#output = request.line === undefined && schema !== undefined ? outputTool(schema) : undefined;
    this.#line = this.#openLine(request);
    if (request.start.kind === "continue") this.#begin({ kind: "talk" });
    if (request.start.kind === "call") this.#begin({ kind: "call", callId: request.start.callId });
  }

  send(message: Message): void {
    this.#messages.push(message);
    if (this.#work === undefined) this.#begin({ kind: "talk" });
  }

  compact(): void {
    this.#begin({ kind: "compact" });
  }

  async interrupt(): Promise<void> {
    const work = this.#work;
    this.#abort.abort();
    await work?.promise;
  }

  async setModel(model: string): Promise<void> {
    this.#model = model;
  }

  async setMode(mode: Mode): Promise<void> {
    this.#mode = mode;
  }

  async close(): Promise<void> {
    this.#jobs.length = 0;
    this.#messages.length = 0;
    this.#abort.abort();
    await this.#pump;
    this.#isClosed = true;
    this.#onEnd();
    await this.#place.session.close();
  }

  kill(): void {
    this.#isClosed = true;
    this.#onEnd();
    this.#jobs.length = 0;
    this.#messages.length = 0;
    this.#abort.abort();
    this.#place.session.kill();
  }

  /** Ends the session because it exceeded a limit or cannot continue, and reports why. */
  lose(why: CapstanError): void {
    if (this.#isClosed) return;
    const told = this.#host.emit({ kind: "lost", error: why, stderr: "" });
    this.kill();
    void told.catch(() => {});
  }

  #openLine(request: EngineRequest): Line {
    const { line: driven, history, agent } = request;
    if (driven !== undefined) {
      const agentId = engineAgentIdOf(driven.threadId);
      return this.#subagents.lineOf({ agentId, name: driven.name, history });
    }
    const line: Line = new Line(
      this.#place,
      {
        system: () => primaryPrompt(request, { isPlanning: this.#mode === "plan", day: this.#day }),
        model: () => this.#model,
        fallback: agent.fallback_model,
        tools: () => this.#primaryTools((callId) => line.eventOf(callId)),
        takeMessages: () => this.#messages.splice(0).map((message) => ({ kind: "user", ...message })),
        steps: agent.budget.steps,
        output: this.#output?.output,
      },
      history.map(conversationItem),
    );
    return line;
  }

  #primaryTools(eventOf: (callId: string) => string): readonly BuiltinTool[] {
    const { session, request } = this.#place;
    return [
      ...[...session.tools, webSearchTool(this.#place, { model: () => this.#model })].filter((tool) =>
        isOfAgent(tool, request.agent.tools),
      ),
      ...this.#subagents.tools({ depth: 0, eventOf }),
      ...(this.#output === undefined ? [] : [this.#output.tool]),
      ...(this.#mode === "plan" ? [planTool(() => (this.#mode = "normal"))] : []),
    ];
  }

  #begin(job: Job): void {
    if (this.#isClosed) return;
    this.#jobs.push(job);
    if (this.#work === undefined) {
      this.#work = Promise.withResolvers();
      this.#abort = new AbortController();
    }
    this.#pump ??= this.#run().catch((thrown: unknown) =>
      this.lose(new CapstanError("engine_failed", `The agent loop failed: ${messageOf(thrown)}`, { cause: thrown })),
    );
  }

  async #run(): Promise<void> {
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) {
      const { signal } = this.#abort;
      let end = await this.#turn(job, signal);
      // Another message arrived during the model's last answer: the turn continues.
      while (end.outcome !== "interrupted" && this.#messages.length > 0)
        end = await this.#turn({ kind: "talk" }, signal);
      const usage = this.#place.tally.take();
      // From here on a message starts a new turn: the host learns about the end before anything else happens.
      this.#work?.resolve();
      this.#work = undefined;
      await this.#host.emit({ kind: "turn_ended", end: { ...end, usage } });
    }
    this.#pump = undefined;
  }

  async #turn(job: Job, signal: AbortSignal): Promise<Omit<TurnEnd, "usage">> {
    try {
      const { text: _text, ...end } = await this.#do(job, signal);
      return end;
    } catch (thrown) {
      if (signal.aborted) return { outcome: "interrupted" };
      const error =
        thrown instanceof CapstanError
          ? thrown
          : new CapstanError("engine_failed", `The agent loop failed: ${messageOf(thrown)}`, { cause: thrown });
      return { outcome: "failed", error };
    }
  }

  async #do(job: Job, signal: AbortSignal): Promise<LineEnd> {
    switch (job.kind) {
      case "call":
        await this.#line.runWaiting(job.callId, signal);
        return { outcome: signal.aborted ? "interrupted" : "completed", text: "" };
      case "compact":
        await this.#line.compact("manual", signal);
        return { outcome: "completed", text: "" };
      case "talk":
        this.#output?.output.forget();
        await this.#tellPrompt();
        return this.#line.run(signal);
    }
  }

  async #tellPrompt(): Promise<void> {
    const { agent, cwd, line } = this.#place.request;
    // A subagent's prompt is part of the agent's definition.
    if (line !== undefined) return;
    const draft: EventDraft<"capstan.prompt_rendered"> = {
      type: "capstan.prompt_rendered",
      model: modelToAsk(this.#model).name,
      instructions_sha256: createHash("sha256").update(agent.instructions).digest("hex"),
      instructions_chars: agent.instructions.length,
      ...(agent.instructions_mode === "append" && { engine_prompt_chars: BASE_PROMPT.length }),
      tools: this.#primaryTools((callId) => callId).map(({ name }) => name),
      cwd,
      engine: "direct",
      engine_version: this.#version,
    };
    const rendered = JSON.stringify(draft);
    if (rendered === this.#rendered) return;
    this.#rendered = rendered;
    await this.#host.emit({ kind: "event", draft });
  }

  /** After the session has ended, nothing more is emitted or allowed. */
  #whileOpen(host: EngineHost): EngineHost {
    return {
      ...host,
      emit: async (fact) => {
        if (!this.#isClosed) await host.emit(fact);
      },
      prepare: async (call, signal) =>
        this.#isClosed ? { behavior: "deny", message: "The session has ended." } : host.prepare(call, signal),
    };
  }
}
