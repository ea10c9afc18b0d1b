import type { StandardSchema } from "./standard-schema.ts";

/** How structured output is checked and typed. */
export interface OutputCheck<Output> {
  /** What the model is told. */
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  /** The value as the schema types it, or the problems in words. */
  check(output: unknown): Promise<{ readonly value: Output } | { readonly problems: readonly string[] }>;
}

/** Makes checks of schemas; both reject a schema that cannot work with `invalid_schema`. */
export interface OutputChecks {
  fromSchema<Output>(schema: StandardSchema<unknown, Output>): Promise<OutputCheck<Output>>;
  fromJsonSchema(schema: Readonly<Record<string, unknown>>): Promise<OutputCheck<unknown>>;
}
