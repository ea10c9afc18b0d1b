import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { clock, ids } from "../../../src/app/clock.ts";
import type { Approval, ApprovalAnswer } from "../../../src/core/session/approval.ts";
import type { SessionEvent } from "../../../src/core/events/events.ts";
import { initialState, reduce, type SessionState } from "../../../src/core/session/state.ts";
import type { Store } from "../../../src/core/ports/store.ts";
import { Inbox } from "../../../src/runtime/approvals/inbox.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

/** A session seen from outside through its store, by a process that does not drive it: what it stands at, what it asks. */
export class Onlooker implements AsyncDisposable {
  readonly store: Store;
  readonly #inbox: Inbox;
  readonly events: SessionEvent[] = [];
  state: SessionState = initialState;
  sessionId: string | undefined;
  approvals: readonly Approval[] = [];

  private constructor(store: Store) {
    this.store = store;
    this.#inbox = new Inbox({ store, clock, ids, onAnswer: async () => {} });
  }

  static async open(home: string): Promise<Onlooker> {
    return new Onlooker(await openSqliteStore({ path: join(home, "capstan.db"), clock }));
  }

  async look(): Promise<void> {
    this.sessionId ??= (await this.store.sessions())[0]?.id;
    if (this.sessionId === undefined) return;
    for (const { event, seq } of await this.store.events(this.sessionId, { after: this.events.length })) {
      this.events.push(event);
      this.state = reduce(this.state, event, seq);
    }
    this.approvals = await this.store.approvals.list({ sessionId: this.sessionId });
  }

  /** Nothing is left to do: the agent said its last word, and no message waits. */
  get isFinished(): boolean {
    const { status, stopReason, undelivered } = this.state;
    return status === "idle" && stopReason?.type === "end_turn" && undelivered.length === 0;
  }

  get standsStill(): boolean {
    return this.state.status === "idle" && this.state.stopReason?.type === "requires_action";
  }

  get head(): number {
    return this.events.length;
  }

  /** From another process than the host's, as `capstan approvals answer` does it. */
  async answer(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    await this.#inbox.answer(approvalId, answer, { by: "somebody", from: "elsewhere" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]();
  }
}

/**
 * The agent processes that this host started for the round in this directory; those included that are not in the log
 * yet. A process id from the log alone might belong to somebody else by now.
 */
export function agentProcesses(hostPid: number, directory: string): number[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => parentOf(pid) === hostPid && read(`/proc/${pid}/environ`).includes(directory))
    .map(Number);
}

function parentOf(pid: string): number {
  return Number(/^PPid:\s*(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
