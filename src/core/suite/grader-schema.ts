import { z } from "zod";
import { parseDuration } from "../text/duration.ts";
import { messageOf } from "../errors.ts";
import { checkJsonPath } from "./json-path.ts";
import { patternIn, readPattern } from "./suite-pattern.ts";

/**
 * One check on a trial, as written: a mapping with one key, the grader's name, and optionally `turn` and `name`. Each
 * grader is a file in eval/graders/.
 */

/** A text that must be parseable, so that mistakes are reported when the suite is read. */
function readable(expected: string, read: (text: string) => unknown): z.ZodString {
  return z
    .string()
    .min(1)
    .check((context) => {
      try {
        read(context.value);
      } catch (thrown) {
        const message = `expected ${expected} (${messageOf(thrown)})`;
        context.issues.push({ code: "custom", input: context.value, message });
      }
    });
}

/** An empty mapping would always pass. */
function saysSomething(given: object): boolean {
  return Object.values(given).some((value) => value !== undefined);
}
const NOTHING_SAID = "expected at least one of the keys";

const text = z.string();
const name = z.string().min(1);
/** A JavaScript regular expression with the flag `u`; `/…/i` sets other flags. */
const pattern = readable("a regular expression", readPattern);
const jsonPath = readable("a JSONPath such as $.items[0].name", checkJsonPath);
const duration = readable("a duration such as 90s", parseDuration);
const patterns = z.union([pattern, z.array(pattern).min(1)]);
const words = z.union([text.min(1), z.array(text.min(1)).min(1)]);
const unit = z.number().min(0).max(1);
const json = z.unknown();
/** Relative to the file that contains it. */
const file = z.string().min(1);
const inWorkspace = z.string().regex(/^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$)).+$/s, "a path inside the workspace");
const schema = z.union([file, z.record(z.string(), z.unknown())]);

/** How many times something may happen. A number means exactly that many. */
const count = z.union([
  z.number().int().min(0),
  z
    .strictObject({ at_least: z.number().int().min(0).optional(), at_most: z.number().int().min(0).optional() })
    .refine(saysSomething, NOTHING_SAID),
]);

/** What a text must look like. */
const textCheck = z
  .strictObject({
    equals: text.optional(),
    contains: words.optional(),
    not_contains: words.optional(),
    matches: patterns.optional(),
  })
  .refine(saysSomething, NOTHING_SAID);

/** A value in a JSON document. */
const jsonCheck = z.strictObject({
  /** JSONPath, such as `$.items[0].name` (default: the whole document). */
  path: jsonPath.optional(),
  equals: json.optional(),
  matches: pattern.optional(),
  exists: z.boolean().optional(),
});

/** Also checks nested values. */
export function readablePatterns(context: z.core.ParsePayload, value = context.value): void {
  if (typeof value === "object" && value !== null)
    for (const one of Object.values(value)) readablePatterns(context, one);
  if (typeof value !== "string") return;
  try {
    patternIn(value);
  } catch (thrown) {
    const message = `expected a regular expression between the slashes (${messageOf(thrown)})`;
    context.issues.push({ code: "custom", input: value, message });
  }
}

const toolCall = z.strictObject({
  tool: name,
  /** Fields that its input must have; a text in `/…/` is a pattern. */
  input: z.record(z.string(), z.unknown()).check(readablePatterns).optional(),
  /** Its outcome. */
  outcome: z.enum(["completed", "failed", "denied", "aborted"]).optional(),
  /** The subagent that called it; `main` for the primary thread. */
  by: name.optional(),
  count: count.optional(),
});

const judged = {
  /** The model that judges. Set here or for the suite; there is no default. */
  judge: name.optional(),
  /** The minimum passing score, from 0 to 1. */
  threshold: unit,
};

export const graders = {
  equals: text,
  contains: words,
  not_contains: words,
  regex: patterns,
  json: jsonCheck,
  json_schema: schema,
  number: z.strictObject({
    equals: z.number(),
    tolerance: z.number().min(0).default(0),
    path: jsonPath.optional(),
  }),
  similarity: z.strictObject({
    to: words,
    method: z.enum(["levenshtein", "bleu", "rouge_1", "rouge_2", "rouge_l"]),
    at_least: unit,
  }),
  tools_called: z.array(name).min(1),
  tools_not_called: z.array(name).min(1),
  tools_in_order: z.array(name).min(1),
  tool_call: toolCall,
  tool_count: count,
  decisions: z
    .array(
      z.strictObject({
        tool: name,
        decision: z.enum(["allow", "ask", "deny"]),
        /** What decided: a rule as written, or `mode`, `grant`, `person`. */
        by: name.optional(),
        count: count.optional(),
      }),
    )
    .min(1),
  files: z
    .strictObject({
      exist: z.array(inWorkspace).optional(),
      missing: z.array(inWorkspace).optional(),
      content: z.record(inWorkspace, z.union([text, textCheck])).optional(),
      /** A file next to the suite with the expected content of the workspace's file. */
      same_as: z.record(inWorkspace, file).optional(),
    })
    .refine(saysSomething, NOTHING_SAID),
  /** The workspace's changes as a unified diff. */
  diff: textCheck,
  /** `.gitignore` patterns; nothing else may have changed. An empty list: nothing at all. */
  only_changed: z.array(z.string().min(1)),
  command: z.union([
    z.string().min(1),
    z.strictObject({
      run: z.string().min(1),
      exit_code: z.number().int().min(0).default(0),
      stdout: z.union([text, textCheck]).optional(),
      timeout: duration.optional(),
    }),
  ]),
  cost: z.strictObject({ at_most: z.number().min(0) }),
  tokens: z.strictObject({
    at_most: z.number().int().min(0),
    of: z.enum(["total", "input", "output", "cache_read"]).default("total"),
  }),
  /** Model requests, including those of subagents. */
  requests: count,
  /** From the first message to the last answer, without approvals. */
  duration: z.strictObject({ at_most: duration }),
  /** Structured output of the last turn. */
  output: z.union([jsonCheck, z.strictObject({ schema }), z.strictObject({ value: json })]),
  subagents: z.array(name).min(1),
  stop_reason: z.enum(["end_turn", "budget_reached", "refusal", "retries_exhausted"]),
  /** How often a model request was retried, and how often the agent's process was replaced. */
  recovery: z
    .strictObject({ retries: count.optional(), processes_lost: count.optional() })
    .refine(saysSomething, NOTHING_SAID),
  code: z.strictObject({
    module: file,
    export: name.default("default"),
    options: z.record(z.string(), z.unknown()).optional(),
    timeout: duration.optional(),
  }),
  rubric: z.strictObject({ ...judged, criteria: words }),
  faithfulness: z.strictObject({ ...judged, context: words }),
  relevance: z.strictObject({ ...judged, question: text.min(1).optional() }),
} as const;

export type GraderKind = keyof typeof graders;
export const GRADER_KINDS = Object.keys(graders) as readonly GraderKind[];

/** Graders of a single turn; the others check the whole trial and ignore `turn`. */
export const TURN_GRADERS = [
  "equals",
  "contains",
  "not_contains",
  "regex",
  "json",
  "json_schema",
  "number",
  "similarity",
  "output",
  "stop_reason",
  "rubric",
  "faithfulness",
  "relevance",
] as const satisfies readonly GraderKind[];
export type TurnGraderKind = (typeof TURN_GRADERS)[number];

/** A grader in use: its kind and its arguments. */
export type Grader = {
  [Kind in GraderKind]: {
    readonly kind: Kind;
    readonly given: z.output<(typeof graders)[Kind]>;
    /** Its name in reports (default: its kind). */
    readonly name?: string | undefined;
    /** The turn it checks, from 1 (default: the last); graders of the whole trial have none. */
    readonly turn?: number | undefined;
  };
}[GraderKind];
export type GraderParams<Kind extends GraderKind> = z.output<(typeof graders)[Kind]>;
export type TextCheck = z.output<typeof textCheck>;
export type JsonCheck = z.output<typeof jsonCheck>;
export type Count = z.output<typeof count>;
export type GraderOf<Kind extends GraderKind> = Extract<Grader, { readonly kind: Kind }>;
