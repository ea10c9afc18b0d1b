import type { Followed } from "../target/followed-session.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** Prints what the user should know about the new workspace. */
export function reportNotes<Session extends Pick<Followed, "state">>(
  session: Session,
  { json }: { readonly json?: boolean },
): Session {
  const notes = json === true ? [] : (session.state.files.workspace?.notes ?? []);
  for (const note of notes) process.stderr.write(`capstan: ${escapeHidden(note)}\n`);
  return session;
}
