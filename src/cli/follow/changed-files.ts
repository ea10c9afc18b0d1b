import type { LoggedEvent, Preview } from "../../core/events/events.ts";
import type { CheckpointRef } from "../../core/session/state-files.ts";
import type { Followed, FollowedHost } from "../target/followed-session.ts";
import { count, shortId } from "../terminal/text.ts";

/** Collects how a run changed the session's files, for the last lines of its output. */
export class ChangedFiles {
  readonly #host: FollowedHost;
  readonly #session: Followed;
  /** The files before the run. */
  #before: CheckpointRef | undefined;
  #isFound = false;
  readonly #calls = new Set<string>();

  constructor(host: FollowedHost, session: Followed) {
    this.#host = host;
    this.#session = session;
    this.#before = session.state.files.last;
  }

  /** Records the run's calls and checkpoints. */
  see(item: LoggedEvent | Preview): void {
    if (item.type === "capstan.permission_decided") this.#calls.add(item.call_id);
    if (item.type !== "capstan.checkpoint_taken" || this.#isFound) return;
    this.#isFound = true;
    // Changes that none of the run's calls can have made were there before: someone else edited the files.
    if (!item.calls.some((id) => this.#calls.has(id))) this.#before = { id: item.checkpoint_id, commit: item.commit };
  }

  /** How many files the run changed, and the next commands; undefined if none changed. */
  async summary(): Promise<string | undefined> {
    const { id, state, record } = this.#session;
    const { last } = state.files;
    const before = this.#before;
    if (before === undefined || last === undefined || before.commit === last.commit) return undefined;
    const { files } = await this.#host.files.diff(id, { from: before.id, to: last.id });
    const short = shortId(id);
    const next =
      record.environment.workspace.kind === "in-place" ? `capstan rewind ${short} --to turn` : `capstan apply ${short}`;
    const changed = `${count(files.length)} ${files.length === 1 ? "file" : "files"} changed`;
    return files.length === 0 ? undefined : `${changed} · capstan diff ${short} · ${next}`;
  }
}
