/**
 * Within one host a lease protects nothing: asking for it again succeeds. So everything that takes and gives back the
 * lease of a session runs one after another.
 */
export class SessionLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the work after all earlier work on this session. It must not wait for other work on the same session. */
  run<Result>(sessionId: string, work: () => Promise<Result>): Promise<Result> {
    const done = this.#after(this.#last.get(sessionId), work);
    const settled = done.catch(() => {});
    this.#last.set(sessionId, settled);
    const forget = (): void => {
      if (this.#last.get(sessionId) === settled) this.#last.delete(sessionId);
    };
    void settled.finally(forget);
    return done;
  }

  async #after<Result>(before: Promise<unknown> | undefined, work: () => Promise<Result>): Promise<Result> {
    await before;
    return work();
  }
}
