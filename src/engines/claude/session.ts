import { join } from "node:path";
import type { Query, SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import type { Mode } from "../../core/agent/agent-definition.ts";
import { uuidOf } from "../../core/ports/clock.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { EngineFact, EngineHost, EngineSession } from "../../core/ports/engine.ts";
import type { CapstanError } from "../../core/errors.ts";
import { translate } from "./sdk/from-sdk-message.ts";
import type { InputQueue } from "./input-queue.ts";
import type { Leftovers } from "../../process/leftovers.ts";
import type { Watchdog } from "../../process/limits.ts";
import { permissionModeFor } from "./options.ts";
import { type CliProcess, describeLoss } from "./process.ts";
import { type FailedOutputs, forgetOutput } from "./results/failed-output.ts";
import { persistedOutput } from "./results/persisted-output.ts";
import { apiContent } from "../api-content.ts";
import type { Stubs } from "../../sandbox/stubs.ts";
import type { TranslatorState } from "./sdk/translation.ts";
import type { Announcements } from "./waits/announcements.ts";
import { waitForAnswer } from "./waits/wait-for-answer.ts";
import { FirstSign } from "./waits/first-sign.ts";

/** After `interrupt()` the CLI needs about ten milliseconds; a process that takes this long hangs. */
const INTERRUPT_GRACE_MS = 5_000;
const EXIT_GRACE_MS = 2_000;

/** How the process is confined, for reports. */
export type ConfinementReport = Required<Pick<EngineSession, "sandbox" | "outside">> &
  Pick<EngineSession, "contained" | "sandboxMissing">;

interface Parts extends ConfinementReport {
  readonly query: Query;
  readonly process: CliProcess;
  readonly leftovers: Leftovers;
  readonly failedOutputs: FailedOutputs;
  readonly stubs: Stubs;
  readonly watchdog: Watchdog;
  readonly input: InputQueue<SDKUserMessage>;
  readonly host: EngineHost;
  readonly announcements: Announcements;
  readonly translator: TranslatorState;
  readonly history: EngineSession["history"];
  /** The process continues a turn and starts working at once. */
  readonly working: boolean;
}

/** One live CLI process and its message stream. */
export class ClaudeSession implements EngineSession {
  readonly history: EngineSession["history"];
  readonly contained: boolean;
  readonly sandbox: "on" | "off" | "unavailable";
  readonly sandboxMissing?: string;
  readonly outside: readonly string[];
  readonly #parts: Parts;
  #translator: TranslatorState;
  /** Messages sent that the CLI has not accepted yet; a result before that does not end the turn. */
  readonly #untaken = new Set<string>();
  /** Settled when the current work ends; undefined while the process is idle. */
  #work: PromiseWithResolvers<void> | undefined;
  /** Set for a process that continues a turn. */
  readonly #firstSign: FirstSign | undefined;
  #closing = false;
  #killed = false;
  /** Why we ended the process: it used too much, or did nothing. */
  #over: CapstanError | undefined;
  readonly #pump: Promise<void>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#translator = parts.translator;
    this.history = parts.history;
    this.contained = parts.contained;
    this.sandbox = parts.sandbox;
    if (parts.sandboxMissing !== undefined) this.sandboxMissing = parts.sandboxMissing;
    this.outside = parts.outside;
    const end = (error: CapstanError): void => {
      this.#over = error;
      parts.process.kill();
    };
    if (parts.working) {
      this.#work = Promise.withResolvers();
      this.#firstSign = new FirstSign({ isAsking: () => parts.announcements.wasAsked, onSilence: end });
    }
    parts.watchdog.watch(parts.process.pid, end);
    this.#pump = this.#run();
  }

  get pid(): number {
    return this.#parts.process.pid;
  }

  send({ eventId, content }: { eventId: string; content: MessageContent }): void {
    this.#untaken.add(eventId);
    this.#push(uuidOf(eventId), apiContent(content), true);
  }

  /** A CLI command; the only text that is not sent literally. */
  compact(): void {
    this.#push(crypto.randomUUID(), "/compact", false);
  }

  #push(uuid: string, content: object[] | string, literal: boolean): void {
    this.#work ??= Promise.withResolvers();
    this.#parts.stubs.markUsed();
    this.#parts.input.push({
      type: "user",
      uuid: uuid as NonNullable<SDKUserMessage["uuid"]>,
      message: { role: "user", content: content as SDKUserMessage["message"]["content"] },
      parent_tool_use_id: null,
      priority: "next",
      // Without this, `@path` would read any file and `/command` would run, bypassing the permission gate.
      ...(literal && { client_composed: true }),
    });
  }

  async interrupt(): Promise<void> {
    const work = this.#work;
    if (work === undefined) return;
    const timer = setTimeout(() => this.#parts.process.kill(), INTERRUPT_GRACE_MS);
    try {
      // Not awaited: the process may die first, and the end of the work settles everything.
      void this.#parts.query.interrupt().catch(() => {});
      await work.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  async setModel(model: string): Promise<void> {
    await waitForAnswer(this.#parts.query.setModel(model), "change its model");
  }

  async setMode(mode: Mode): Promise<void> {
    await waitForAnswer(this.#parts.query.setPermissionMode(permissionModeFor(mode)), "change its mode");
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#parts.input.end();
    await this.#parts.process.waitForExit(EXIT_GRACE_MS);
    await this.#pump;
    this.#sweep();
  }

  kill(): void {
    this.#closing = true;
    this.#killed = true;
    this.#parts.watchdog.stop();
    this.#parts.process.kill();
  }

  async #run(): Promise<void> {
    let ending: unknown;
    try {
      for await (const message of this.#parts.query) {
        // Ignore what a killed process left in the pipe.
        if (this.#killed || this.#over !== undefined) break;
        await this.#take(message);
      }
    } catch (thrown) {
      ending = thrown;
    }
    this.#rest();
    this.#firstSign?.stop();
    this.#parts.watchdog.stop();
    if (this.#closing) return;
    this.#closing = true;
    this.#parts.process.kill();
    const { stderr } = this.#parts.process;
    const error = this.#over ?? describeLoss(ending, stderr);
    await this.#parts.host.emit({ kind: "lost", error, stderr });
    this.#sweep();
  }

  #sweep(): void {
    this.#parts.leftovers.sweep();
    this.#parts.stubs.sweepAll();
  }

  async #take(message: SDKMessage): Promise<void> {
    const before = this.#translator;
    const { state, facts } = translate(before, message);
    this.#translator = state;
    this.#firstSign?.hear(message);
    if (message.type === "system" && message.subtype === "status")
      this.#parts.announcements.summarises(message.status === "compacting" ? subagentsIn(state) : undefined);
    for (const fact of facts) {
      if (fact.kind === "turn_ended" && this.#untaken.size > 0 && fact.end.outcome !== "interrupted") {
        // Another message is waiting: the turn continues, and its end reports the usage of both parts.
        this.#translator = { ...state, totals: before.totals };
        this.#rest();
        this.#work = Promise.withResolvers();
        continue;
      }
      await (fact.kind === "tool_result" ? this.#emitResult(fact) : this.#emit(fact));
    }
  }

  /** Adds the file with the whole output when the model sees only a part. */
  async #emitResult(fact: Extract<EngineFact, { kind: "tool_result" }>): Promise<void> {
    const saved = persistedOutput(fact.content, join(this.#parts.process.configDir, "projects"));
    const failed = fact.isError && saved === undefined ? await this.#parts.failedOutputs.find(fact.content) : undefined;
    const outputFile = saved ?? failed;
    await this.#emit(outputFile === undefined ? fact : { ...fact, outputFile });
    if (failed !== undefined) forgetOutput(failed);
  }

  async #emit(fact: EngineFact): Promise<void> {
    if (fact.kind === "turn_ended") {
      this.#rest();
      // Until the host knows about the end, no other session works in the same directory.
      this.#parts.stubs.sweep();
    }
    if (fact.kind === "delivered") for (const id of fact.eventIds) this.#untaken.delete(id);
    await this.#parts.host.emit(fact);
    if (fact.kind === "event" && "call_id" in fact.draft && fact.draft.call_id !== undefined)
      this.#parts.announcements.announce(fact.draft.call_id);
  }

  #rest(): void {
    this.#work?.resolve();
    this.#work = undefined;
  }
}

function subagentsIn({ agentOfCall }: TranslatorState): ReadonlySet<string> {
  return new Set([...agentOfCall.values()].map(({ id }) => id));
}
