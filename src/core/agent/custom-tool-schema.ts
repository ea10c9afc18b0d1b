import { z } from "zod";
import { BUILT_IN_TOOLS, canonicalTool } from "../rules/tool-names.ts";

/** The problem with a custom tool's name. Rules must not confuse it with another kind of tool. */
function problemWithToolName(text: string): string | undefined {
  const builtIn = canonicalTool(text);
  if (BUILT_IN_TOOLS.includes(builtIn))
    return `the name ${text} belongs to the built-in tool ${builtIn}; choose another name`;
  return text.startsWith("mcp__") ? "names that start with mcp__ are reserved for tools of MCP servers" : undefined;
}

/** Problems that make the model API refuse every request. */
function problemWithInputSchema(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (schema["type"] !== "object") return 'its type must be "object"';
  const mixed = ["anyOf", "oneOf", "allOf"].find((keyword) => keyword in schema);
  return mixed === undefined
    ? undefined
    : `it has ${mixed} at the top level; use one plain object, with unions inside it`;
}

/** A JSON Schema of an object. */
const inputSchema = z
  .record(z.string(), z.unknown())
  .superRefine((schema, context) => report(problemWithInputSchema(schema), context))
  .refine(({ properties }) => properties === undefined || isObject(properties), "properties must be an object")
  .refine(
    ({ required }) =>
      required === undefined || (Array.isArray(required) && required.every((key) => typeof key === "string")),
    "required must be a list of names",
  );

/** A function that runs in a client. The session waits until the client returns its result. */
const customTool = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z][\w-]{0,63}$/, "up to 64 letters, digits, _ and -, starting with a letter")
    .superRefine((text, context) => report(problemWithToolName(text), context)),
  /** Tells the model what the tool does and when to use it. */
  description: z.string().min(1),
  /** Describes the input to the model. */
  input_schema: inputSchema,
});
export const customTools = z.array(customTool).superRefine((tools, context) => {
  for (const [index, { name: text }] of tools.entries())
    if (tools.findIndex((other) => other.name === text) < index)
      report(`two tools are named ${text}; rename one`, context, [index, "name"]);
});

function report(message: string | undefined, context: z.core.$RefinementCtx, path: (string | number)[] = []): void {
  if (message !== undefined) context.addIssue({ code: "custom", path, message });
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export type CustomTool = z.infer<typeof customTool>;
