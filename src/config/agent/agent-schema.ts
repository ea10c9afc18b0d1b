import { z } from "zod";
import { AGENT_TOOLS } from "./agent-tool-checks.ts";
import { AGENT_FIELD_WORDS } from "./agent-field-docs.ts";
import { suiteAsWritten, suiteInAgentFile } from "../../core/suite/suite-schema.ts";
import { agentFile } from "./agent-file-schema.ts";

/** The part of JSON Schema that is used here. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
}

/** The JSON Schema (draft 2020-12) of an agent file, with descriptions for editors. */
export function agentFileSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(agentFile, { io: "input", override: forEditors }) as JsonSchema;
  const { properties, ...rest } = describeField(schema, []);
  const { $schema: _, title: __, ...tests } = suiteFileSchema(suiteInAgentFile);
  return {
    $schema,
    title: "Capstan agent",
    description: "A Capstan agent: agent.yaml. Check it with `capstan validate`.",
    ...rest,
    properties: { ...properties, tests: { $ref: "#/$defs/suite", description: AGENT_FIELD_WORDS["tests"] } },
    $defs: { suite: tests },
  };
}

/** The JSON Schema of a suite. */
export function suiteFileSchema(schema: z.ZodType = suiteAsWritten): JsonSchema {
  return {
    title: "Capstan suite",
    description: "Test cases for an agent: *.test.yaml. Run them with `capstan test`.",
    ...(z.toJSONSchema(schema, { io: "input" }) as JsonSchema),
  };
}

/** A URL may contain `${NAME}`, which is not a valid URL before it is resolved. */
function forEditors({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === "uri") delete jsonSchema.format;
}

/** Adds the description for a path to the field. */
function describeField(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const words = AGENT_FIELD_WORDS[path.join(".")];
  const inner = below(schema, path);
  return {
    ...(words !== undefined && { description: words }),
    ...inner,
    ...(isToolName(schema, path) && {
      anyOf: [{ enum: AGENT_TOOLS }, { pattern: schema["pattern"] }],
      pattern: undefined,
    }),
  };
}

function below(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const { properties, additionalProperties: others, items, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, property]) => [key, describeField(property, [...path, key])]),
      ),
    }),
    ...(typeof others === "object" && { additionalProperties: describeField(others, [...path, "*"]) }),
    ...(items && { items: describeField(items, [...path, "*"]) }),
    // A field with several forms has one description.
    ...(anyOf && { anyOf: anyOf.map((one) => below(one, path)) }),
    ...(oneOf && { oneOf: oneOf.map((one) => below(one, path)) }),
  };
}

/** Editors offer the names of built-in tools. */
function isToolName({ pattern }: JsonSchema, path: readonly string[]): boolean {
  return pattern !== undefined && ["tools.*", "subagents.*.tools.*"].includes(path.join("."));
}
