import { z } from "zod";
import { agentDefinition, engineName, MODES } from "../../core/agent/agent-definition.ts";
import { sessionBudget } from "../../core/money/budget-schema.ts";
import { environmentDefinition } from "../../core/environment/environment.ts";
import type { LoggedEvent } from "../../core/events/events.ts";
import { sessionEvent } from "../../core/events/events.ts";
import { ruleText } from "../../core/rules/rule-schema.ts";
import { messageParams } from "../v1/message-input.ts";
import { metadata, queryNumber } from "./common.ts";

/** What a user says: text, or blocks of text, images and documents as in `/v1`. */
const messageInput = z.union([z.string().min(1), messageParams]);
export type MessageInput = z.infer<typeof messageInput>;

const mode = z.enum(MODES);

export const agentReference = z.strictObject({
  id: z.string().describe("Of a stored agent."),
  version: z.number().int().positive().optional().describe("Default: the newest."),
});

export const sessionInput = z.strictObject({
  agent: agentReference
    .optional()
    .describe("A stored agent. Without this and `agent_definition`: the server's own for the project."),
  agent_definition: agentDefinition.optional().describe("A definition that is given with the session. Admins only."),
  environment_id: z.string().optional().describe("A stored environment."),
  environment: environmentDefinition.optional().describe("One that is given with the session. Admins only."),
  cwd: z
    .string()
    .optional()
    .describe(
      "A directory of the server's machine. Default: the environment's, else the project's. Outside of these, in another project, or where credentials are: admins only.",
    ),
  inputs: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe("What the agent must be told at its start: a value for each of its inputs that has no default."),
  message: messageInput.optional().describe("Starts the first turn."),
  title: z.string().max(500).optional(),
  metadata: metadata.optional(),
  engine: engineName.optional().describe("What runs it, in place of the agent's."),
  model: z.string().min(1).optional().describe("In place of the agent's."),
  mode: mode.optional().describe("In place of the agent's. One that allows more: admins only."),
  allow: z.array(ruleText).optional().describe("Allow rules besides the agent's. Admins only."),
  budget: sessionBudget
    .optional()
    .describe(
      "Limits in place of the agent's; what is left out stays as it is. Of a limit that the agent has, the lower one counts, but for admins.",
    ),
  output_schema: z.record(z.string(), z.unknown()).optional().describe("A JSON Schema in place of the agent's."),
});
export type SessionInput = z.input<typeof sessionInput>;

export const sessionPatch = z.strictObject({
  title: z.string().max(500).nullable().optional(),
  metadata: z
    .record(z.string().max(64), z.string().max(512).nullable())
    .optional()
    .describe("Changes; null removes a value."),
  max_usd: z
    .number()
    .positive()
    .nullable()
    .optional()
    .describe("null for no limit of the session's own: that of its agent, and for admins none."),
  engine: engineName.optional().describe("What runs it from the next turn on."),
  model: z.string().min(1).optional(),
  mode: mode.optional(),
});
export type SessionPatch = z.input<typeof sessionPatch>;

export const forkInput = z.strictObject({
  at: z.number().int().positive().optional().describe("The sequence number to fork at. Default: the last one."),
  cwd: z
    .string()
    .optional()
    .describe("Where it works, when the parent works in place. Default: where the parent does."),
});
export type ForkInput = z.input<typeof forkInput>;

export const messageRequest = z.strictObject({ content: messageInput });

/** What was sent is in the log: the events after `after` tell what becomes of it. */
export const accepted = z.object({
  session_id: z.string(),
  after: z.number().describe("Follow the stream from here: what was sent is the first event after it."),
});
export type Accepted = z.infer<typeof accepted>;

export const head = z.number().describe("The place of the log's last event; 0 for an empty log.");

export const place = z.object({
  seq: z.number().describe("Its place in the session's log, from 1 without a gap."),
  clipped: z.literal(true).optional().describe("Texts or lists in it were cut, as `clip` asked for."),
});
const loggedEvent = z.intersection(sessionEvent, place);
/** An event whose long texts may have been cut. */
export type ClippedEvent = LoggedEvent & { readonly clipped?: true };

/** In characters. */
const clip = queryNumber({ min: 200, max: 1_000_000 })
  .optional()
  .describe(
    "Cuts every text in an event that is longer than so many characters, leaves longer documents and large images out, cuts lists whose texts are too long together, and marks the event with `clipped`. Default: events are whole.",
  );

export const eventQuery = z.strictObject({
  after: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }).default(0).describe("Only events after this number."),
  up_to: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }).optional(),
  limit: queryNumber({ min: 1, max: 1_000 }).default(500).describe("How many are looked at."),
  types: z
    .string()
    .optional()
    .describe("Only these of the events that are looked at, such as `user.message,agent.message`."),
  clip,
});

export const eventPage = z.object({
  data: z.array(loggedEvent),
  next_after: z.number().nullable().describe("Where the next page begins; null when this was the last."),
});
export interface WireEventPage {
  data: ClippedEvent[];
  next_after: number | null;
}

export const streamQuery = z.strictObject({
  after: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER })
    .optional()
    .describe("Where to begin when there is no Last-Event-ID. Default: at the start."),
  clip,
});

export const stateQuery = z.strictObject({
  at: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER })
    .optional()
    .describe("The place in the log; 0 for before the first event. Default: the last one."),
});
