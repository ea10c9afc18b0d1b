import { z } from "zod";
import { CapstanError } from "../errors.ts";
import { nearest } from "../text/nearest.ts";

/** Values that a session is started with, for `{{name}}` in the agent's instructions. */
const NAME = /^[a-z][a-z0-9_]{0,62}$/;
const PLACE = /\{\{\s*([A-Za-z]\w*)\s*\}\}/g;

const given = { description: z.string().min(1).optional() };
const input = z.discriminatedUnion("type", [
  z.strictObject({
    ...given,
    type: z.literal("string"),
    default: z.string().optional(),
    /** The allowed values (default: any). */
    enum: z.array(z.string()).min(1).optional(),
  }),
  z.strictObject({ ...given, type: z.literal("number"), default: z.number().optional() }),
  z.strictObject({ ...given, type: z.literal("integer"), default: z.int().optional() }),
  z.strictObject({ ...given, type: z.literal("boolean"), default: z.boolean().optional() }),
]);

/** An input without a default is required. */
export const agentInputs = z
  .record(z.string().regex(NAME, "lower-case letters, digits and _, starting with a letter"), input)
  .superRefine((inputs, context) => {
    for (const [name, { default: value, ...rest }] of Object.entries(inputs))
      if ("enum" in rest && typeof value === "string" && rest.enum?.includes(value) === false)
        context.addIssue({
          code: "custom",
          path: [name, "default"],
          message: "the default must be one of the values in enum",
        });
  });

export type AgentInputs = z.infer<typeof agentInputs>;
export type InputValue = string | number | boolean;
export type InputValues = Readonly<Record<string, InputValue>>;

/** The names of inputs that a text uses, once each. */
export function inputsIn(text: string): string[] {
  return [...new Set([...text.matchAll(PLACE)].map(([, name = ""]) => name))];
}

/**
 * Values for all inputs: the given ones, checked, and defaults for the others. Texts are parsed as the input's type.
 */
export function inputValues(inputs: AgentInputs, values: InputValues): InputValues {
  const known = Object.keys(inputs);
  const problems = Object.keys(values)
    .filter((name) => !known.includes(name))
    .map((name) => unknown(name, known));
  const read = Object.entries(inputs).map(([name, declared]): [string, InputValue] => {
    const value = Object.hasOwn(values, name) ? values[name] : declared.default;
    if (value === undefined)
      problems.push(`${name} is missing${declared.description ? `: ${declared.description}` : ""}`);
    const typed = value === undefined ? undefined : typedValue(value, declared);
    if (value !== undefined && typed === undefined) problems.push(`${name} must be ${expectation(declared)}`);
    return [name, typed ?? ""];
  });
  if (problems.length > 0)
    throw new CapstanError(
      "invalid_input",
      `The agent's inputs are not valid: ${problems.join("; ").replace(/[^?]$/, "$&.")}`,
      {
        data: { problems },
      },
    );
  return Object.fromEntries(read);
}

/** A text with its inputs filled in. Placeholders that are not inputs stay unchanged. */
export function renderInputs(text: string, values: InputValues): string {
  return text.replaceAll(PLACE, (place, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : place));
}

function typedValue(value: InputValue, declared: AgentInputs[string]): InputValue | undefined {
  switch (declared.type) {
    case "string":
      return declared.enum === undefined || declared.enum.includes(String(value)) ? String(value) : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : { true: true, false: false }[String(value)];
    default: {
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
      const fits = declared.type === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
      return fits ? number : undefined;
    }
  }
}

function expectation(declared: AgentInputs[string]): string {
  if (declared.type === "string") return `one of ${declared.enum?.join(", ") ?? "any text"}`;
  return { number: "a number", integer: "a whole number", boolean: "true or false" }[declared.type];
}

function unknown(name: string, known: readonly string[]): string {
  if (known.length === 0) return `unknown input ${name}; the agent has no inputs`;
  const meant = nearest(name, known);
  return `unknown input ${name}; ${meant === undefined ? `known inputs: ${known.join(", ")}` : `did you mean ${meant}?`}`;
}
