import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { expandCommand } from "../../core/agent/slash-commands.ts";
import type { SessionState } from "../../core/session/state.ts";
import { waitsFor } from "./approval-wait.ts";
import { withRewindNote } from "../files/rewind.ts";

/** A message as it is stored, and the slash command that it was written as, if any. */
export interface ExpandedMessage {
  readonly content: MessageContent;
  readonly command?: string;
}

/** Replaces a message that is only one of the agent's commands with that command's text, the same for every client. */
export function expandMessage(agent: Pick<AgentDefinition, "commands">, content: MessageContent): ExpandedMessage {
  const [only, ...others] = content;
  if (only?.type !== "text" || others.length > 0) return { content };
  const text = expandCommand(agent, only.text);
  return text === undefined ? { content } : { content: [{ type: "text", text }], command: only.text };
}

/**
 * The events of a message. One that starts a turn is stored together with the start, which saves a write on the way to
 * the model.
 */
export function saidEvents(
  { content, command }: ExpandedMessage,
  { state, starts, waits }: { readonly state: SessionState; readonly starts: boolean; readonly waits: boolean },
): readonly EventDraft[] {
  return [
    {
      type: "user.message",
      content: withRewindNote(content, state.files),
      ...(command !== undefined && { command }),
    },
    ...(starts ? [{ type: "session.status_running" } as const] : []),
    // The turn waits for a person and takes the message up later; the sender learns which answer it waits for.
    ...(waits ? [waitsFor(state)] : []),
  ];
}
