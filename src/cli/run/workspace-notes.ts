import type { Followed } from "../target/followed-session.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** What a person should know of the workspace that was made. */
export function tellNotes<Session extends Pick<Followed, "state">>(
  session: Session,
  { json }: { readonly json?: boolean },
): Session {
  const notes = json === true ? [] : (session.state.files.workspace?.notes ?? []);
  for (const note of notes) process.stderr.write(`capstan: ${escapeHidden(note)}\n`);
  return session;
}
