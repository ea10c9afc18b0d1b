import { existsSync } from "node:fs";
import { CapstanError } from "../../core/errors.ts";
import type { SessionRecord, Store } from "../../core/ports/store.ts";
import { realPath } from "../paths/real-path.ts";
import { loadState } from "../log/stored-state.ts";

/**
 * The directory in which a session continues. While people are asked, that is where the calls were made: an answer to
 * "run this here" does not answer "run it there". A directory that no longer exists can be replaced.
 */
export async function findWaitingTurn(
  store: Store,
  { id, cwd, source, environment }: SessionRecord,
  wanted: string | undefined,
): Promise<string> {
  if (environment.workspace.kind !== "in-place") {
    const { state } = await loadState(store, id);
    // A removal that has begun deleted some files, and may continue.
    if (state.files.removed === true || !existsSync(cwd))
      throw new CapstanError(
        "not_found",
        `The workspace of session ${id} is gone: ${cwd} was removed. Its log is still there. Start a new session to continue the work.`,
        { data: { cwd } },
      );
    if (wanted === undefined || isSame(wanted, cwd) || isSame(wanted, source)) return cwd;
    throw new CapstanError(
      "invalid_input",
      `The session has a workspace of its own, ${cwd}, and cannot continue in ${wanted}. Leave the directory out, or take its changes with: capstan apply`,
      { data: { cwd } },
    );
  }
  const asked = await store.approvals.list({ sessionId: id });
  if (asked.every(({ status }) => status === "settled")) return wanted ?? cwd;
  const worked = await workedIn(store, id);
  const place = worked === undefined || isSame(worked, cwd) ? cwd : worked;
  if (wanted === undefined || isSame(wanted, place)) return place;
  if (!existsSync(place)) return wanted;
  throw new CapstanError(
    "invalid_input",
    `The session waits for an answer about a call in ${place}, and must not make it in ${wanted}. Continue it in ${place}.`,
    { data: { cwd: place } },
  );
}

/** A session may have been resumed in another directory; the log says where its last process worked. */
async function workedIn(store: Store, sessionId: string): Promise<string | undefined> {
  const rendered = (await store.events(sessionId)).findLast(({ event }) => event.type === "capstan.prompt_rendered");
  return rendered?.event.type === "capstan.prompt_rendered" ? rendered.event.cwd : undefined;
}

function isSame(one: string, other: string): boolean {
  return realPath(one) === realPath(other);
}
