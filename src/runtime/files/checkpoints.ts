import { messageOf } from "../../core/errors.ts";
import type { EventDraft, EventOf } from "../../core/events/events.ts";
import type { SessionState } from "../../core/session/state.ts";
import type { CheckpointRef } from "../../core/session/state-files.ts";
import type { TakenCheckpoint } from "../../core/ports/workspace.ts";
import type { SessionBasics, SessionHold } from "../session-deps.ts";
import { requireOwnPlace } from "../paths/session-place.ts";

type Reason = EventOf<"capstan.checkpoint_taken">["reason"];
type Taken = EventDraft<"capstan.checkpoint_taken">;
type Deps = Pick<SessionBasics, "record" | "log" | "ids"> & Pick<SessionHold, "workspace">;

/** So many names of files that a checkpoint left out are told. */
const TOLD = 20;

/** Keeps the files of one session whenever the agent is about to change them, or has done so. */
export class Checkpoints {
  readonly #deps: Deps;
  /** One at a time: each is compared with the one before. Never held while the log is written, which may wait for it. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Taken, and perhaps not in the log yet. */
  #last: CheckpointRef | undefined;
  /** Calls that were over when nothing had changed: what changes later is not theirs. */
  readonly #harmless = new Set<string>();
  /** Calls before which the files were kept here. Any other was begun by a host that is gone, or without a checkpoint. */
  readonly #begun = new Set<string>();
  /** Calls that are over, and whose files are still to be kept. */
  readonly #ending = new Set<Promise<void>>();
  /** That none can be taken was told; it is told again when one succeeded in between. */
  #told = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Before a call that may change files. Rejects when the environment does not let it run without a checkpoint. */
  async beforeCall(callId: string): Promise<void> {
    const { mode } = this.#deps.record.environment.checkpoints;
    if (mode === "off") return;
    try {
      await this.take({ reason: "call", callId });
      this.#begun.add(callId);
    } catch (thrown) {
      if (mode === "required") throw thrown;
      await this.#deps.log.append(this.#failed(thrown));
    }
  }

  /** Whether the files must be kept when this call is over. */
  isWatching(callId: string): boolean {
    return this.#begun.has(callId);
  }

  /** After a call, and what hooks did about it: what changes from now on is not its work. Does not wait. */
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
      // A log that cannot be written is known to the turn.
      await this.#deps.log.append(this.#failed(thrown)).catch(() => {});
    }
  }

  /** Resolves when the files are kept as every call that is over left them. */
  async settled(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  /** For the log, at the end of a turn. One in which nothing could have changed is not looked at. Never rejects. */
  async atTurnEnd({ files }: SessionState): Promise<readonly EventDraft[]> {
    if (files.calls.length === 0 || this.#deps.record.environment.checkpoints.mode === "off") return [];
    try {
      const taken = await this.#look("turn_end");
      return taken === undefined ? [] : [this.#attributed(taken, files)];
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  /** Gives the checkpoint of the files as they are now: a new one, or the last when nothing has changed since. */
  async take({ reason, callId }: { reason: Reason; callId?: string }): Promise<CheckpointRef> {
    const taken = await this.#look(reason, callId);
    const last = this.#last ?? this.#deps.log.state.files.last;
    if (taken === undefined && last !== undefined) return last;
    const appended = this.#deps.log.append(({ files }) =>
      taken === undefined ? [] : [this.#attributed(taken, files)],
    );
    await appended.catch((thrown: unknown) => {
      this.forget();
      throw thrown;
    });
    return { id: taken?.checkpoint_id ?? "", commit: taken?.commit ?? "" };
  }

  /** What was taken did not get into the log; the next look takes it again. */
  forget(): void {
    this.#last = undefined;
  }

  /** The files were brought to this checkpoint. */
  restored(checkpoint: CheckpointRef): void {
    this.#last = checkpoint;
  }

  #look(reason: Reason, callId?: string): Promise<Taken | undefined> {
    const looked = this.#queue.then(async () => {
      const { log, ids, workspace, record } = this.#deps;
      requireOwnPlace(record);
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

  #attributed(taken: Taken, { calls }: SessionState["files"]): Taken {
    const by = calls.filter((call) => !this.#harmless.has(call));
    return { ...taken, calls: by, ...(by.some((call) => !this.#begun.has(call)) && { unsure: true }) };
  }

  #failed(thrown: unknown): readonly EventDraft[] {
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
