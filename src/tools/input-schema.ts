import { CapstanError, messageOf } from "../core/errors.ts";
import type { StandardSchema } from "../core/agent/standard-schema.ts";
import { compileJsonSchema } from "./json-schema.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

interface InputDescription {
  readonly name: string;
  readonly input: StandardSchema;
  readonly inputJsonSchema?: JsonSchema | undefined;
}

const PASS_IT = "Pass inputJsonSchema with the JSON Schema for the model.";

/** The JSON Schema of a tool's input. Throws `invalid_schema` if it is unknown or the model API does not accept it. */
export function inputSchemaOf({ name, input, inputJsonSchema }: InputDescription): JsonSchema {
  const standard: Partial<StandardSchema["~standard"]> | undefined = input["~standard"];
  if (typeof standard?.validate !== "function")
    throw invalid(`The input of the tool ${name} is not a Standard Schema. Pass one, such as z.object({ … }).`);
  if (inputJsonSchema !== undefined) compileJsonSchema(inputJsonSchema);
  const schema = inputJsonSchema ?? describedBy(standard, name);
  const mixed = ["anyOf", "oneOf", "allOf"].find((keyword) => keyword in schema);
  if (schema["type"] === "object" && mixed === undefined) return schema;
  const found = mixed ?? `type ${JSON.stringify(schema["type"])}`;
  throw invalid(
    `The input of the tool ${name} has ${found} at the top level. Use one plain object, with unions inside it.`,
  );
}

function describedBy({ vendor, jsonSchema }: Partial<StandardSchema["~standard"]>, name: string): JsonSchema {
  if (jsonSchema === undefined)
    throw invalid(`The input schema of the tool ${name} (${vendor}) cannot be converted to JSON Schema. ${PASS_IT}`);
  try {
    return jsonSchema.input({ target: "draft-2020-12" });
  } catch (cause) {
    throw invalid(`The input schema of the tool ${name} has no JSON Schema: ${messageOf(cause)}. ${PASS_IT}`, cause);
  }
}

function invalid(message: string, cause?: unknown): CapstanError {
  return new CapstanError("invalid_schema", message, { cause });
}
