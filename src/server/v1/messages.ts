import type { MessageContent } from "../../core/content.ts";
import { CapstanError } from "../../core/errors.ts";
import type { LoggedEvent } from "../../core/events.ts";
import type { Session } from "../../runtime/session.ts";

/** Sends a message, and gives it back as it stands in the log. The turn it begins goes on by itself. */
export async function storedMessage(session: Session, content: MessageContent): Promise<LoggedEvent> {
  for await (const item of session.send(content)) if (item.type === "user.message") return item;
  throw new CapstanError("session_ended", "The session was closed before the message was stored. Send it again.");
}
