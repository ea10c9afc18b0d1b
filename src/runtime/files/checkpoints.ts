import { messageOf } from "../../core/errors.ts";
import type { EventDraft, EventOf } from "../../core/events/events.ts";
import type { SessionState } from "../../core/session/state.ts";
import type { CheckpointRef } from "../../core/session/state-files.ts";
import type { TakenCheckpoint } from "../../core/ports/workspace.ts";
import type { SessionBasics, SessionHold } from "../session-deps.ts";
import { requireOwnDirectory } from "../paths/session-location.ts";

type Reason = EventOf<"capstan.checkpoint_taken">["reason"];
type Taken = EventDraft<"capstan.checkpoint_taken">;
type Deps = Pick<SessionBasics, "record" | "log" | "ids"> & Pick<SessionHold, "workspace">;

/** At most this many skipped files are named in the log. */
const TOLD = 20;

/** Takes checkpoints of one session's files before and after the agent changes them. */
export class Checkpoints {
  readonly #deps: Deps;
  /**
   * Runs one checkpoint at a time, because each is compared with the previous one. Never held while the log is written,
   * which may wait for it.
   */
  #queue: Promise<unknown> = Promise.resolve();
  /** The last checkpoint, possibly not in the log yet. */
  #last: CheckpointRef | undefined;
  /** Calls that ended without changing anything: later changes are not theirs. */
  readonly #harmless = new Set<string>();
  /**
   * Calls with a checkpoint taken before them by this host. Other calls were started by another host or without a
   * checkpoint.
   */
  readonly #begun = new Set<string>();
  /** Calls that have ended and whose checkpoint is still to be taken. */
  readonly #ending = new Set<Promise<void>>();
  /** Whether a checkpoint failure was reported. Reset when a checkpoint succeeds. */
  #told = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Takes a checkpoint before a call that may change files. Rejects if it fails and the environment requires a
   * checkpoint.
   */
  async beforeCall(callId: string): Promise<void> {
    const { mode } = this.#deps.record.environment.checkpoints;
    if (mode === "off") return;
    try {
      await this.take({ reason: "call", callId });
      this.#begun.add(callId);
    } catch (thrown) {
      if (mode === "required") throw thrown;
      await this.#deps.log.append(this.#failureEvents(thrown));
    }
  }

  /** Whether a checkpoint is due when this call ends. */
  isWatching(callId: string): boolean {
    return this.#begun.has(callId);
  }

  /** Takes a checkpoint after a call and its hooks: later changes do not belong to the call. Does not wait. */
  afterCall(callId: string, hooks: Promise<void>): void {
    const { log } = this.#deps;
    if (!this.#begun.has(callId) || !log.state.files.calls.includes(callId)) return;
    const ending = this.#keepAfter(callId, hooks).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async #keepAfter(callId: string, hooks: Promise<void>): Promise<void> {
    try {
      await hooks;
      await this.take({ reason: "call_end", callId });
    } catch (thrown) {
      // The turn already knows if the log cannot be written.
      await this.#deps.log.append(this.#failureEvents(thrown)).catch(() => {});
    }
  }

  /** Resolves when checkpoints of all ended calls are taken. */
  async waitForCalls(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  /** Returns events for the log at the end of a turn. Skipped if nothing could have changed. Never rejects. */
  async atTurnEnd({ files }: SessionState): Promise<readonly EventDraft[]> {
    if (files.calls.length === 0 || this.#deps.record.environment.checkpoints.mode === "off") return [];
    try {
      const taken = await this.#look("turn_end");
      return taken === undefined ? [] : [this.#attribute(taken, files)];
    } catch (thrown) {
      return this.#failureEvents(thrown);
    }
  }

  /** Returns a checkpoint of the current files: a new one, or the last one if nothing has changed. */
  async take({ reason, callId }: { reason: Reason; callId?: string }): Promise<CheckpointRef> {
    const taken = await this.#look(reason, callId);
    const last = this.#last ?? this.#deps.log.state.files.last;
    if (taken === undefined && last !== undefined) return last;
    const appended = this.#deps.log.append(({ files }) => (taken === undefined ? [] : [this.#attribute(taken, files)]));
    await appended.catch((thrown: unknown) => {
      this.forget();
      throw thrown;
    });
    return { id: taken?.checkpoint_id ?? "", commit: taken?.commit ?? "" };
  }

  /** The last checkpoint did not get into the log; take it again next time. */
  forget(): void {
    this.#last = undefined;
  }

  /** Records that the files were restored to this checkpoint. */
  noteRestored(checkpoint: CheckpointRef): void {
    this.#last = checkpoint;
  }

  #look(reason: Reason, callId?: string): Promise<Taken | undefined> {
    const looked = this.#queue.then(async () => {
      const { log, ids, workspace, record } = this.#deps;
      requireOwnDirectory(record);
      const { files, openCalls } = log.state;
      const over = files.calls.filter((call) => !(call in openCalls));
      const now = await workspace.checkpoint((this.#last ?? log.state.files.last)?.commit);
      this.#told = false;
      if (now === undefined) {
        for (const call of over) this.#harmless.add(call);
        return undefined;
      }
      const id = ids.next("ckpt");
      this.#last = { id, commit: now.commit };
      return draftOf(now, { id, reason, callId });
    });
    this.#queue = looked.catch(() => {});
    return looked;
  }

  #attribute(taken: Taken, { calls }: SessionState["files"]): Taken {
    const by = calls.filter((call) => !this.#harmless.has(call));
    return { ...taken, calls: by, ...(by.some((call) => !this.#begun.has(call)) && { unsure: true }) };
  }

  #failureEvents(thrown: unknown): readonly EventDraft[] {
    if (this.#told) return [];
    this.#told = true;
    return [{ type: "capstan.checkpoint_failed", reason: messageOf(thrown) }];
  }
}

function draftOf(
  { commit, added, modified, deleted, leftOut }: TakenCheckpoint,
  { id, reason, callId }: { id: string; reason: Reason; callId: string | undefined },
): Taken {
  return {
    type: "capstan.checkpoint_taken",
    checkpoint_id: id,
    commit,
    reason,
    ...(callId !== undefined && { call_id: callId }),
    calls: [],
    added,
    modified,
    deleted,
    ...(leftOut.length > 0 && {
      left_out: leftOut.slice(0, TOLD).map((one) => ({ ...one })),
      left_out_count: leftOut.length,
    }),
  };
}
