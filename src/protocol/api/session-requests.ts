import { z } from "zod";
import { agentDefinition, engineName, MODES } from "../../core/agent/agent-definition.ts";
import { sessionBudget } from "../../core/money/budget-schema.ts";
import { environmentDefinition } from "../../core/environment/environment.ts";
import type { LoggedEvent } from "../../core/events/events.ts";
import { sessionEvent } from "../../core/events/events.ts";
import { ruleText } from "../../core/rules/rule-schema.ts";
import { messageParams } from "../v1/message-input.ts";
import { metadata, queryNumber } from "./common.ts";

/** A user's message: text, or blocks of text, images and documents as in `/v1`. */
const messageInput = z.union([z.string().min(1), messageParams]);
export type MessageInput = z.infer<typeof messageInput>;

const mode = z.enum(MODES);

export const agentReference = z.strictObject({
  id: z.string().describe("The id of a saved agent."),
  version: z.number().int().positive().optional().describe("Default: the newest."),
});

export const sessionInput = z.strictObject({
  agent: agentReference
    .optional()
    .describe("A saved agent. Default, if `agent_definition` is absent too: the server's agent for the project."),
  agent_definition: agentDefinition.optional().describe("An inline agent definition. Admins only."),
  environment_id: z.string().optional().describe("A saved environment."),
  environment: environmentDefinition.optional().describe("An inline environment. Admins only."),
  cwd: z
    .string()
    .optional()
    .describe(
      "A directory on the server's machine. Default: the environment's, otherwise the project's. Outside of these, in another project, or where credentials are: admins only.",
    ),
  inputs: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .optional()
    .describe("Values for the agent's inputs; required for inputs without a default."),
  message: messageInput.optional().describe("Starts the first turn."),
  title: z.string().max(500).optional(),
  metadata: metadata.optional(),
  engine: engineName.optional().describe("Replaces the agent's engine."),
  model: z.string().min(1).optional().describe("Replaces the agent's value."),
  mode: mode.optional().describe("Replaces the agent's mode. A mode that allows more: admins only."),
  allow: z.array(ruleText).optional().describe("Allow rules in addition to the agent's. Admins only."),
  budget: sessionBudget
    .optional()
    .describe(
      "Limits that replace the agent's; omitted ones stay. If both set a limit, the lower one applies, except for admins.",
    ),
  output_schema: z.record(z.string(), z.unknown()).optional().describe("A JSON Schema that replaces the agent's."),
});
export type SessionInput = z.input<typeof sessionInput>;

export const sessionPatch = z.strictObject({
  title: z.string().max(500).nullable().optional(),
  metadata: z
    .record(z.string().max(64), z.string().max(512).nullable())
    .optional()
    .describe("Changes to apply; null removes a value."),
  max_usd: z
    .number()
    .positive()
    .nullable()
    .optional()
    .describe("null for no session limit: the agent's limit applies, and for admins none."),
  engine: engineName.optional().describe("The engine from the next turn on."),
  model: z.string().min(1).optional(),
  mode: mode.optional(),
});
export type SessionPatch = z.input<typeof sessionPatch>;

export const forkInput = z.strictObject({
  at: z.number().int().positive().optional().describe("The sequence number to fork at. Default: the last one."),
  cwd: z
    .string()
    .optional()
    .describe("Where the fork works, if the parent works in place. Default: the parent's directory."),
});
export type ForkInput = z.input<typeof forkInput>;

export const messageRequest = z.strictObject({ content: messageInput });

/** The request is in the log: its results are the events after `after`. */
export const accepted = z.object({
  session_id: z.string(),
  after: z.number().describe("Follow the stream from here: the first event after it is the one that was sent."),
});
export type Accepted = z.infer<typeof accepted>;

export const head = z.number().describe("The position of the log's last event; 0 for an empty log.");

export const logPosition = z.object({
  seq: z.number().describe("The position in the session's log, starting at 1 without gaps."),
  clipped: z.literal(true).optional().describe("Texts or lists were cut because of `clip`."),
});
const loggedEvent = z.intersection(sessionEvent, logPosition);
/** An event whose long texts may be cut. */
export type ClippedEvent = LoggedEvent & { readonly clipped?: true };

/** In characters. */
const clip = queryNumber({ min: 200, max: 1_000_000 })
  .optional()
  .describe(
    "Cuts texts in an event that are longer than this many characters, omits longer documents and large images, cuts lists whose texts are too long together, and marks the event with `clipped`. Default: events are complete.",
  );

export const eventQuery = z.strictObject({
  after: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }).default(0).describe("Only events after this number."),
  up_to: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }).optional(),
  limit: queryNumber({ min: 1, max: 1_000 }).default(500).describe("How many events to read."),
  types: z
    .string()
    .optional()
    .describe("Only these types among the events that are read, such as `user.message,agent.message`."),
  clip,
});

export const eventPage = z.object({
  data: z.array(loggedEvent),
  next_after: z.number().nullable().describe("Where the next page begins; null if this is the last one."),
});
export interface WireEventPage {
  data: ClippedEvent[];
  next_after: number | null;
}

export const streamQuery = z.strictObject({
  after: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER })
    .optional()
    .describe("Where to start without a Last-Event-ID. Default: at the beginning."),
  clip,
});

export const stateQuery = z.strictObject({
  at: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER })
    .optional()
    .describe("The log position; 0 for the state before the first event. Default: the last one."),
});
