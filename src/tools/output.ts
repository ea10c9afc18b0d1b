import { CapstanError } from "../core/errors.ts";
import type { OutputCheck } from "../core/agent/output.ts";
import { describeIssue, type StandardSchema } from "../core/agent/standard-schema.ts";
import { compileJsonSchema } from "./json-schema.ts";

/** Checks an agent's output with the program's schema; the model gets its JSON Schema. */
export function outputFromSchema<Output>(schema: StandardSchema<unknown, Output>): OutputCheck<Output> {
  const { jsonSchema, validate } = schema["~standard"];
  if (jsonSchema === undefined)
    throw new CapstanError(
      "invalid_schema",
      "The output schema cannot be converted to JSON Schema. Use one that can, such as z.object({ … }), or put a JSON Schema into the agent's output_schema.",
    );
  const described = jsonSchema.input({ target: "draft-2020-12" });
  return {
    jsonSchema: described,
    async check(value) {
      const result = await validate(value);
      return result.issues === undefined
        ? { value: result.value }
        : { problems: result.issues.map((issue) => describeIssue(issue, "output")) };
    },
  };
}

/** Checks an agent's output with the JSON Schema of its definition. */
export function outputFromJsonSchema(jsonSchema: Readonly<Record<string, unknown>>): OutputCheck<unknown> {
  const problemsOf = compileJsonSchema(jsonSchema);
  return {
    jsonSchema,
    async check(value) {
      const problems = problemsOf(value).map(({ path, message }) => `${path || "output"}: ${message}`);
      return problems.length === 0 ? { value } : { problems };
    },
  };
}
