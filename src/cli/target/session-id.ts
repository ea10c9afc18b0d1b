import { CapstanError } from "../../core/errors.ts";
import type { SessionQuery, SessionSummary } from "../../core/ports/store.ts";
import { isOf } from "../terminal/directory.ts";

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

/** Where a command is given. */
export interface Here {
  readonly project: string;
  /** Undefined where sessions are another machine's. */
  readonly directory: string | undefined;
}

const NO_PROJECT = "default";
/** Sessions that work or wait without anybody speaking to them may be more active than the one that is looked for. */
const LOOKED_AT = 100;

/** The session of the project that was last spoken to, of those that fit. Without a project directories have nothing to do with each other. */
export async function lastSession(
  list: SessionList,
  { project, directory }: Here,
  fits: (session: SessionSummary) => boolean = () => true,
): Promise<string> {
  const alone = project === NO_PROJECT ? directory : undefined;
  const all = await list.sessions(alone === undefined ? { project, limit: LOOKED_AT } : { project });
  const last = all
    .filter((one) => fits(one) && (alone === undefined || isOf(one, alone)))
    .toSorted((one, other) => other.lastSpokenAt - one.lastSpokenAt)[0];
  if (last !== undefined) return last.id;
  const [place, others] =
    alone === undefined ? ["project", ""] : ["directory", ". Those of other directories: capstan sessions list"];
  throw new CapstanError(
    "not_found",
    `This ${place} has no session yet. Start one: capstan chat, or capstan run "…"${all.length > 0 ? others : ""}`,
  );
}
