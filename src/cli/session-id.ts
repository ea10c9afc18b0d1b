import { CapstanError } from "../core/errors.ts";
import type { SessionQuery, SessionSummary } from "../core/store.ts";

/** Whatever can list sessions: a host, the store alone, or a server. */
export interface SessionList {
  /** `named`: those whose id is this, or begins or ends with it; others may be among them. */
  sessions(query?: SessionQuery & { readonly named?: string }): Promise<readonly SessionSummary[]>;
}

const SHORTEST = 4;

/** The session that a whole id, or the beginning or end of one, stands for. */
export async function resolveSession(list: SessionList, given: string): Promise<string> {
  if (given.length < SHORTEST)
    throw new CapstanError(
      "invalid_input",
      `"${given}" is too short to name a session. Give at least ${SHORTEST} characters of its id.`,
    );
  const found = (await list.sessions({ named: given })).filter(
    ({ id }) => id === given || id.endsWith(given) || id.startsWith(given),
  );
  const [only, ...others] = found.some(({ id }) => id === given) ? [{ id: given }] : found;
  if (only === undefined)
    throw new CapstanError("not_found", `There is no session ${given}. See: capstan sessions list`);
  if (others.length > 0)
    throw new CapstanError("invalid_input", `${given} stands for ${found.length} sessions. Give more of the id.`);
  return only.id;
}

export async function lastSession(list: SessionList, project: string): Promise<string> {
  const [last] = await list.sessions({ project, limit: 1 });
  if (last === undefined)
    throw new CapstanError("not_found", 'This project has no session yet. Start one: capstan run "…"');
  return last.id;
}
