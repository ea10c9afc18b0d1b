import { CapstanError } from "../../core/errors.ts";
import type { LoggedEvent } from "../../core/events/events.ts";
import type { Turn } from "../../runtime/turn/turn.ts";

/** The first event of a turn: the message that was sent. The turn continues in the background. */
export async function firstEvent(turn: Turn): Promise<LoggedEvent> {
  for await (const item of turn) if ("seq" in item) return item;
  throw new CapstanError("session_ended", "The session was closed before the turn began. Send the message again.");
}
