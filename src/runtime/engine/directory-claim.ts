import { setTimeout as sleep } from "node:timers/promises";
import { CapstanError } from "../../core/errors.ts";
import { realPath } from "../paths/real-path.ts";
import type { OtherHosts, SessionBasics } from "../session-deps.ts";

/** How soon a waiting turn sees that the directory is free. */
const LOOK_EVERY_MS = 200;

export type ClaimDeps = Pick<SessionBasics, "record" | "store" | "log"> & OtherHosts;

/** The directory that a session's turns work in. No other session's turns may work there at the same time. */
export class Occupancy {
  readonly #deps: ClaimDeps;
  #held: Promise<void> | undefined;
  /** A claim was, or is about to be, stored with the start of a turn. */
  #isBegun = false;

  constructor(deps: ClaimDeps) {
    this.#deps = deps;
  }

  /** The directory to claim in the write that starts a turn, if it is free; `take` then finds the claim, or waits for it. */
  begin(): string | undefined {
    const [cwd] = this.#sharedPaths();
    if (cwd === undefined || this.#held !== undefined) return undefined;
    this.#isBegun = true;
    return realPath(cwd);
  }

  /**
   * Resolves when the directory is this session's, or when `stopped` says that it is no longer needed. Rejects with
   * `workspace_busy` when another session works there and the environment says not to wait.
   */
  take(isStopped: () => boolean): Promise<void> {
    this.#held ??= this.#claim(isStopped).catch((thrown: unknown) => {
      this.#held = undefined;
      throw thrown;
    });
    return this.#held;
  }

  /** Rejects when another session works in one of these directories. Default: the session's own, when it is shared. */
  async takeNow(paths = this.#sharedPaths()): Promise<void> {
    for (const path of paths) {
      const holder = await this.#holder(realPath(path));
      if (holder !== undefined) throw busy(path, holder);
      this.#held = Promise.resolve();
    }
  }

  /** Releases what a host that died in a turn of this session still holds. */
  async giveUpOld(): Promise<void> {
    await this.#deps.store.claims.release(this.#deps.record.id);
  }

  /** Only an in-place workspace is shared; any other kind is the session's own. */
  #sharedPaths(): readonly string[] {
    const { cwd, environment } = this.#deps.record;
    return environment.workspace.kind === "in-place" ? [cwd] : [];
  }

  async release(): Promise<void> {
    if (this.#held === undefined && !this.#isBegun) return;
    this.#held = undefined;
    this.#isBegun = false;
    // A claim that a failing store keeps is released when this host is gone.
    await this.#deps.store.claims.release(this.#deps.record.id).catch(() => {});
  }

  async #claim(isStopped: () => boolean): Promise<void> {
    const { record, log } = this.#deps;
    const { workspace } = record.environment;
    if (workspace.kind !== "in-place") return;
    const path = realPath(record.cwd);
    for (let told = ""; ; await sleep(LOOK_EVERY_MS)) {
      const holder = await this.#holder(path);
      if (holder === undefined || isStopped()) return;
      if (workspace.when_busy === "refuse") throw busy(record.cwd, holder);
      if (holder !== told) await log.append([{ type: "capstan.workspace_busy", session_id: holder }]);
      told = holder;
    }
  }

  /** The session that has the directory. A session whose host died no longer has it. */
  async #holder(path: string): Promise<string | undefined> {
    const { record, store, isGone } = this.#deps;
    const holder = await store.claims.claim(record.id, path);
    if (holder === undefined) return undefined;
    const owner = await store.leases.holder(holder);
    if (owner !== undefined && !isGone(owner)) return holder;
    await store.claims.release(holder);
    return this.#holder(path);
  }
}

function busy(cwd: string, holder: string): CapstanError {
  return new CapstanError(
    "workspace_busy",
    `Session ${holder} works in ${cwd} just now. Wait for it, work in another directory, or give each session a workspace of its own (environment.workspace.kind: worktree or copy).`,
    { data: { cwd, sessionId: holder }, retryable: true },
  );
}
