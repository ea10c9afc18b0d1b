/** In milliseconds. A call is announced right before its hook asks; the log may be slow to take it. */
const ANNOUNCED_WITHIN_MS = 60_000;

interface Waiting {
  readonly agentId: string | undefined;
  readonly resolve: () => void;
  readonly reject: (why: string) => void;
}

/** Which tool calls are in the log already. Hooks arrive beside the message stream and must not overtake it. */
export class Announcements {
  readonly #known: Set<string>;
  readonly #withinMs: number;
  readonly #waiting = new Map<string, Set<Waiting>>();
  /** While the conversation is being summarised: the engine's names for the subagents that were started. */
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
   * The engine has begun to summarise the conversation, or is done with it: `undefined`. A tool call that the model makes
   * meanwhile is part of no line and is never announced; it comes from an agent that was never started.
   */
  summarises(subagents: ReadonlySet<string> | undefined): void {
    this.#subagents = subagents;
    for (const waiting of [...this.#waiting.values()].flatMap((all) => [...all]))
      if (this.#isStranger(waiting.agentId)) waiting.reject(SUMMARISING);
  }

  /** Rejects when `signal` aborts first, while the conversation is summarised, and when it takes too long. */
  async wait(callId: string, signal: AbortSignal, agentId?: string): Promise<void> {
    this.#wasAsked = true;
    if (this.#known.has(callId)) return;
    if (this.#isStranger(agentId)) throw new Error(SUMMARISING);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { agentId, resolve, reject: (why) => reject(new Error(why)) };
    const giveUp = (): void => waiting.reject("the call was given up");
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

const SUMMARISING = "the conversation is being summarised, and no tool may be used meanwhile";
