import { z } from "zod";
import type { EventOf, Preview, SessionEvent } from "../../core/events/events.ts";
import { QUESTION_TOOL } from "../../core/rules/tool-names.ts";
import type { EvaluatedEvent } from "./evaluations.ts";
import { QUESTION_NAME } from "./question-tool.ts";
import { createdBetween, createdRange, limitUpTo, repeatedParam, page } from "./queries.ts";

/** The log in responses of the Managed Agents API: every event, with that API's names. */

/**
 * Converts one event of the log to one event on the wire. Events that the API does not define keep their `capstan.`
 * names, and events have additional fields; clients ignore what they do not know. The log position is not shown.
 */
export function wireEvent(logged: EvaluatedEvent | SessionEvent) {
  const { seq: _place, ...event } = logged as EvaluatedEvent;
  switch (event.type) {
    case "agent.tool_use":
      // A denied question needs no answer.
      return event.name === QUESTION_TOOL && event.evaluated_permission !== "deny" ? question(event) : event;
    case "agent.custom_tool_use":
      return withoutEvaluation(event);
    case "user.tool_confirmation":
      return event.answers === undefined ? event : answer({ ...event, answers: event.answers });
    case "agent.thinking":
      return withoutSignature(event);
    default:
      return event;
  }
}

/** The agent's questions go to the client, like a custom tool. */
function question(event: EventOf<"agent.tool_use">) {
  return { ...withoutEvaluation(event), type: "agent.custom_tool_use" as const, name: QUESTION_NAME };
}

/** Only calls that run on the server have one. */
function withoutEvaluation<Event extends object>(event: Event & { readonly evaluated_permission?: unknown }) {
  const { evaluated_permission: _evaluation, ...rest } = event;
  return rest;
}

function answer({
  tool_use_id: custom_tool_use_id,
  result,
  answers,
  ...event
}: EventOf<"user.tool_confirmation"> & { answers: Record<string, string> }) {
  return {
    ...event,
    type: "user.custom_tool_result" as const,
    custom_tool_use_id,
    content: [{ type: "text" as const, text: JSON.stringify(answers) }],
    is_error: result === "deny",
  };
}

/** Only the engine and the model use the signature. */
function withoutSignature({ signature: _secret, ...event }: EventOf<"agent.thinking">) {
  return event;
}

export type WireEvent = ReturnType<typeof wireEvent>;

/** When an event was saved, in milliseconds since the epoch. For a message without a time, its id contains one. */
function storedAt({ id, processed_at: processedAt }: SessionEvent): number {
  return processedAt == null
    ? Number.parseInt(id.slice(id.indexOf("_") + 1).slice(0, 12), 16)
    : Date.parse(processedAt);
}

const MAX_EVENTS = 1_000;
const USUAL_EVENTS = 100;

export const eventList = z.strictObject({
  limit: limitUpTo(MAX_EVENTS, USUAL_EVENTS),
  page,
  order: z.enum(["asc", "desc"]).default("asc"),
  types: repeatedParam(z.string()),
  ...createdBetween,
});
export const threadEventList = eventList.pick({ limit: true, page: true });
export type EventFilter = Pick<z.infer<typeof eventList>, "types" | keyof typeof createdBetween>;

/** Whether a list with these filters includes an event, by its type on the wire. */
export function isListed({ types, ...created }: EventFilter): (event: EvaluatedEvent) => boolean {
  const { createdFrom = 0, createdUntil = Number.MAX_SAFE_INTEGER } = createdRange(created);
  return (event) => {
    if (types !== undefined && !types.includes(wireEvent(event).type)) return false;
    const at = storedAt(event);
    return at >= createdFrom && at <= createdUntil;
  };
}

const PREVIEWED = ["agent.message", "agent.thinking"] as const;
export const streamQueryV1 = z.strictObject({ event_deltas: repeatedParam(z.enum(PREVIEWED)) });

type Previewed = (typeof PREVIEWED)[number];

/** The previews that a stream requested. For thinking, only the start is sent. */
export class PreviewFilter {
  readonly #wanted: readonly Previewed[];
  /** Event id → type, until the event itself arrives. */
  readonly #started = new Map<string, Previewed>();

  constructor(wanted: readonly Previewed[]) {
    this.#wanted = wanted;
  }

  isShown(preview: Preview): boolean {
    switch (preview.type) {
      case "event_start": {
        const { id, type } = preview.event;
        if (!this.#wanted.includes(type)) return false;
        this.#started.set(id, type);
        return true;
      }
      case "event_delta":
        return this.#started.get(preview.event_id) === "agent.message";
      case "capstan.event_withdrawn":
        return this.#started.delete(preview.event_id);
    }
  }

  /** Called when the event itself was sent. */
  conclude(eventId: string): void {
    this.#started.delete(eventId);
  }
}
