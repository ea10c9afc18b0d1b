/**
 * Within one host a lease protects nothing: whoever asks for it again gets it. So what takes and gives back the lease of a
 * session happens one after another.
 */
export class SessionLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does the work when all earlier work on this session is done. It must not wait for other work on the same session. */
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
