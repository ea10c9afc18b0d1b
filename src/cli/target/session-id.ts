import { CapstanError } from "../../core/errors.ts";
import type { SessionQuery, SessionSummary } from "../../core/ports/store.ts";
import { isOf } from "../terminal/directory.ts";

/** Anything that can list sessions: a host, a store or a server. */
export interface SessionList {
  /** `named` limits the result to ids that equal, start with or end with it; it may still contain others. */
  sessions(query?: SessionQuery & { readonly named?: string }): Promise<readonly SessionSummary[]>;
}

const SHORTEST = 4;

/** Finds a session by its id, or by the first or last characters of it. */
export async function resolveSession(list: SessionList, given: string): Promise<string> {
  if (given.length < SHORTEST)
    throw new CapstanError(
      "invalid_input",
      `"${given}" is too short to identify a session. Enter at least ${SHORTEST} characters of its id.`,
    );
  const found = (await list.sessions({ named: given })).filter(
    ({ id }) => id === given || id.endsWith(given) || id.startsWith(given),
  );
  const [only, ...others] = found.some(({ id }) => id === given) ? [{ id: given }] : found;
  if (only === undefined)
    throw new CapstanError("not_found", `No session ${given} found. To list sessions: capstan sessions list`);
  if (others.length > 0)
    throw new CapstanError(
      "invalid_input",
      `${given} matches ${found.length} sessions. Enter more characters of the id.`,
    );
  return only.id;
}

/** Where a command runs. */
export interface Here {
  readonly project: string;
  /** Undefined for sessions on a server. */
  readonly directory: string | undefined;
}

const NO_PROJECT = "default";
/** How many of the most recently active sessions to search: running sessions may be more active than the last one used. */
const MAX_SEARCHED = 100;

/** The project's session that last received a message. Outside a project, only sessions of this directory count. */
export async function lastSession(
  list: SessionList,
  { project, directory }: Here,
  fits: (session: SessionSummary) => boolean = () => true,
): Promise<string> {
  const alone = project === NO_PROJECT ? directory : undefined;
  const all = await list.sessions(alone === undefined ? { project, limit: MAX_SEARCHED } : { project });
  const last = all
    .filter((one) => fits(one) && (alone === undefined || isOf(one, alone)))
    .toSorted((one, other) => other.lastSpokenAt - one.lastSpokenAt)[0];
  if (last !== undefined) return last.id;
  const [scope, others] =
    alone === undefined ? ["project", ""] : ["directory", ". Sessions of other directories: capstan sessions list"];
  throw new CapstanError(
    "not_found",
    `This ${scope} has no sessions yet. Start one: capstan chat, or capstan run "…"${all.length > 0 ? others : ""}`,
  );
}
