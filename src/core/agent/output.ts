import type { StandardSchema } from "./standard-schema.ts";

/** How structured output is checked and typed. */
export interface OutputCheck<Output> {
  /** Sent to the model. */
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  /** The value as typed by the schema, or the problems as text. */
  check(output: unknown): Promise<{ readonly value: Output } | { readonly problems: readonly string[] }>;
}

/** Creates checks from schemas. Both methods reject an unusable schema with `invalid_schema`. */
export interface OutputChecks {
  fromSchema<Output>(schema: StandardSchema<unknown, Output>): Promise<OutputCheck<Output>>;
  fromJsonSchema(schema: Readonly<Record<string, unknown>>): Promise<OutputCheck<unknown>>;
}
