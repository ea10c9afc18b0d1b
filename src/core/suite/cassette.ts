import { z } from "zod";

/**
 * The requests and answers of a model in one trial, so that everything else can run for real without it. Readable:
 * answers are whole messages, not streams, and varying parts are placeholders.
 */
export const CASSETTE_FORMAT = 1;

/** The fields of each kind of block that an agent can't continue without; for other kinds, only the kind is checked. */
const NEEDED: Readonly<Record<string, z.ZodType>> = {
  text: z.looseObject({ text: z.string() }),
  thinking: z.looseObject({ thinking: z.string() }),
  tool_use: z.looseObject({ id: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()) }),
};

/** Not a union, whose error would only say that a block matches nothing, not what it lacks. */
const block = z.looseObject({ type: z.string() }).superRefine((value, context) => {
  const needed = Object.hasOwn(NEEDED, value.type) ? NEEDED[value.type] : undefined;
  for (const { message, path } of needed?.safeParse(value).error?.issues ?? [])
    context.addIssue({ code: "custom", message, path: [...path] });
});

/** A message of the Messages API, as far as a cassette reads it. */
export const recordedMessage = z.looseObject({
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(block),
  stop_reason: z.string().nullable(),
  usage: z.record(z.string(), z.unknown()),
});

const answer = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("message"), message: recordedMessage }),
  /** The stream ended before the message did: the provider stopped, or the agent aborted it. */
  z.strictObject({
    kind: z.literal("cut"),
    by: z.enum(["model", "agent"]),
    message: recordedMessage,
    /** The provider's reason, if it gave one. */
    error: z.unknown().optional(),
  }),
  z.strictObject({
    kind: z.literal("error"),
    /** 200: the error came in the stream, instead of a message. */
    status: z.number().int(),
    /** Those that say when to retry. */
    headers: z.record(z.string(), z.string()),
    body: z.unknown(),
  }),
]);

const told = z.looseObject({ role: z.string(), content: z.array(block) });

const exchange = z.strictObject({
  model: z.string(),
  /** Keys of `texts`: the instructions and the tools of the request. */
  instructions: z.string(),
  tools: z.string(),
  /** How the model is asked to answer: effort, thinking, maximum tokens. */
  settings: z.record(z.string(), z.unknown()),
  /** What is new to the thread, normalized: the messages after the model's last one. */
  news: z.array(told),
  answer,
});

const thread = z.strictObject({
  /** The session of the case, or of its nth judge. */
  session: z.string(),
  /** `main`, or a name for one subagent such as `agent-1`. */
  thread: z.string(),
  /** The purpose of the requests: `main`, `subagent`, `auxiliary`, `compaction`, `unknown`. */
  class: z.string(),
  exchanges: z.array(exchange).min(1),
});

export const cassette = z.strictObject({
  format: z.literal(CASSETTE_FORMAT),
  suite: z.string(),
  case: z.string(),
  trial: z.number().int().positive(),
  recorded: z.strictObject({
    at: z.string(),
    capstan: z.string(),
    sdk: z.string(),
    agent: z.string(),
    /** Absent in older cassettes, which have only one engine: `claude`. */
    engine: z.string().optional(),
  }),
  /** Instructions and tool lists by their hash, each once. */
  texts: z.record(z.string(), z.unknown()),
  threads: z.array(thread),
});

export type Cassette = z.infer<typeof cassette>;
export type CassetteThread = z.infer<typeof thread>;
export type CassetteExchange = z.infer<typeof exchange>;
/** A message of `news`. */
export type RecordedNews = z.infer<typeof told>;
export type RecordedAnswer = z.infer<typeof answer>;
export type RecordedMessage = z.infer<typeof recordedMessage>;
