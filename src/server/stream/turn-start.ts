import type { Context } from "hono";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { type Env, hasRole } from "../http/context.ts";
import { CapstanError } from "../../core/errors.ts";
import type { LoggedEvent } from "../../core/events/events.ts";
import type { Turn } from "../../runtime/turn/turn.ts";

/**
 * Warms a session when a client attaches, which usually means that a message follows. Leaves sessions alone that
 * another process drives or that cannot be continued.
 */
export function wake(runtime: Runtime, c: Context<Env>, record: SessionRecord): void {
  if (record.archivedAt !== null || !hasRole(c.get("caller"), "operator") || c.req.method === "HEAD") return;
  runtime.attend(record.id).then(
    (session) => session.warm(),
    () => {},
  );
}

/** The first event of a turn: the message that was sent. The turn continues in the background. */
export async function firstEvent(turn: Turn): Promise<LoggedEvent> {
  for await (const item of turn) if ("seq" in item) return item;
  throw new CapstanError("session_ended", "The session was closed before the turn began. Send the message again.");
}
