import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { EventDraft } from "../../core/events/events.ts";
import { expandCommand } from "../../core/agent/slash-commands.ts";
import type { SessionState } from "../../core/session/state.ts";
import { isPaused, waitsFor } from "./approval-wait.ts";
import { withRewindNote } from "../files/rewind.ts";

/** A message as it is stored, and what was written when that was a slash command. */
export interface Said {
  readonly content: MessageContent;
  readonly command?: string;
}

/** For every client alike: text that is one of the agent's commands, and nothing beside it, is what that stands for. */
export function expanded(agent: Pick<AgentDefinition, "commands">, content: MessageContent): Said {
  const [only, ...others] = content;
  if (only?.type !== "text" || others.length > 0) return { content };
  const text = expandCommand(agent, only.text);
  return text === undefined ? { content } : { content: [{ type: "text", text }], command: only.text };
}

/**
 * What is stored of a message. One that starts a turn is stored together with the start: one write on the way to the
 * model instead of two.
 */
export function saidEvents(
  { content, command }: Said,
  { state, starts }: { readonly state: SessionState; readonly starts: boolean },
): readonly EventDraft[] {
  return [
    {
      type: "user.message",
      content: withRewindNote(content, state.files),
      ...(command !== undefined && { command }),
    },
    ...(starts ? [{ type: "session.status_running" } as const] : []),
    // It is taken up when the turn that waits has gone on; whoever sent it is told what that waits for.
    ...(isPaused(state) ? [waitsFor(state)] : []),
  ];
}
