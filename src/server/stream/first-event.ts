import { CapstanError } from "../../core/errors.ts";
import type { LoggedEvent } from "../../core/events/events.ts";
import type { Turn } from "../../runtime/turn/turn.ts";

/** What a turn begins with, as it stands in the log: the message that was sent. The turn goes on by itself. */
export async function firstEvent(turn: Turn): Promise<LoggedEvent> {
  for await (const item of turn) if ("seq" in item) return item;
  throw new CapstanError("session_ended", "The session was closed before the turn began. Send it again.");
}
