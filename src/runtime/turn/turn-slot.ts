import { Occupancy } from "../engine/directory-claim.ts";
import type { SessionDeps } from "../session-deps.ts";

/** What a turn needs before it may work: the directory of its session, then a place among the turns of the host. */
export class TurnPlace {
  readonly #deps: SessionDeps;
  readonly #occupancy: Occupancy;
  #entered: Promise<(() => void) | undefined> | undefined;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#occupancy = new Occupancy(deps);
  }

  /** Resolves when the turn may work, or `stopped` says that it need not any more. */
  async take(stopped: () => boolean): Promise<void> {
    const { admission, record } = this.#deps;
    // The directory first: a turn that waits for one must not keep a place from those that could work.
    await this.#occupancy.take(stopped);
    if (stopped()) return;
    const entered = (this.#entered ??= admission.enter(record.project, stopped));
    if ((await entered) === undefined && this.#entered === entered) this.#entered = undefined;
  }

  /** While its directory must stay the session's, but nothing works there: a server asks a person. */
  makeRoom(): void {
    const entered = this.#entered;
    this.#entered = undefined;
    void entered?.then((leave) => leave?.());
  }

  /** While it waits for people, and when it is over. */
  async release(): Promise<void> {
    this.makeRoom();
    // What the next session changes here must not look like the work of this one.
    await this.#deps.checkpoints.settled();
    await this.#occupancy.release();
  }
}
