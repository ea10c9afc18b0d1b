/** Milliseconds. A call is announced right before its hook runs, but writing the log may be slow. */
const ANNOUNCED_WITHIN_MS = 60_000;

interface Waiting {
  readonly agentId: string | undefined;
  readonly resolve: () => void;
  readonly reject: (why: string) => void;
}

/** Tracks which tool calls are in the log. Hooks run independently of the message stream and must not overtake it. */
export class Announcements {
  readonly #known: Set<string>;
  readonly #withinMs: number;
  readonly #waiting = new Map<string, Set<Waiting>>();
  /** During a compaction: the engine's ids of the subagents that were started. */
  #subagents: ReadonlySet<string> | undefined;
  #wasAsked = false;

  constructor(known: Iterable<string>, { withinMs = ANNOUNCED_WITHIN_MS }: { readonly withinMs?: number } = {}) {
    this.#known = new Set(known);
    this.#withinMs = withinMs;
  }

  /** Whether a hook has asked about any call. */
  get wasAsked(): boolean {
    return this.#wasAsked;
  }

  announce(callId: string): void {
    this.#known.add(callId);
    for (const { resolve } of this.#waiting.get(callId) ?? []) resolve();
  }

  /**
   * Call this when the engine starts a compaction, and with `undefined` when it is done. A tool call that the model
   * makes meanwhile belongs to no thread and is never announced; its agent was never started.
   */
  summarises(subagents: ReadonlySet<string> | undefined): void {
    this.#subagents = subagents;
    for (const waiting of [...this.#waiting.values()].flatMap((all) => [...all]))
      if (this.#isStranger(waiting.agentId)) waiting.reject(SUMMARISING);
  }

  /** Rejects if `signal` aborts first, during a compaction, and after a timeout. */
  async wait(callId: string, signal: AbortSignal, agentId?: string): Promise<void> {
    this.#wasAsked = true;
    if (this.#known.has(callId)) return;
    if (this.#isStranger(agentId)) throw new Error(SUMMARISING);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { agentId, resolve, reject: (why) => reject(new Error(why)) };
    const giveUp = (): void => waiting.reject("the call was canceled");
    const late = setTimeout(() => waiting.reject("the engine did not announce the call in time"), this.#withinMs);
    const all = this.#waiting.get(callId) ?? new Set();
    this.#waiting.set(callId, all.add(waiting));
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", giveUp);
      all.delete(waiting);
      if (all.size === 0) this.#waiting.delete(callId);
    }
  }

  #isStranger(agentId: string | undefined): boolean {
    return this.#subagents !== undefined && agentId !== undefined && !this.#subagents.has(agentId);
  }
}

const SUMMARISING = "tools can't be used while the conversation is being compacted";
