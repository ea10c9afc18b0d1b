import { z } from "zod";

/**
 * The forms of MCP servers: flat, with texts, numbers, switches and choices as fields. They are read leniently, because
 * the server checks its input again; answers that it would certainly refuse are reported to the person, who can fix
 * them.
 */

const choice = z.object({ const: z.string() });
const choices = { enum: z.array(z.string()).optional(), oneOf: z.array(choice).optional() };
const field = z.object({
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  type: z.string().optional().catch(undefined),
  ...choices,
  items: z
    .object({ ...choices, anyOf: z.array(choice).optional() })
    .optional()
    .catch(undefined),
  minimum: z.number().optional().catch(undefined),
  maximum: z.number().optional().catch(undefined),
  minLength: z.number().optional().catch(undefined),
  maxLength: z.number().optional().catch(undefined),
  minItems: z.number().optional().catch(undefined),
  maxItems: z.number().optional().catch(undefined),
  format: z.string().optional().catch(undefined),
  default: z
    .union([z.string(), z.number(), z.boolean(), z.array(z.string())])
    .optional()
    .catch(undefined),
});
type Field = z.infer<typeof field>;

const form = z.object({
  properties: z.record(z.string(), field.catch({})).catch({}),
  required: z.array(z.string()).catch([]),
});

/** What an MCP server asks a person: values for the fields of a form, or to open a URL. */
export interface Elicitation {
  readonly server: string;
  readonly message: string;
  readonly requested:
    | { readonly kind: "form"; readonly schema: Readonly<Record<string, unknown>> }
    | { readonly kind: "url"; readonly url: string };
}

export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content: Readonly<Record<string, ElicitedValue>> }
  /** A person said no, … */
  | { readonly action: "decline" }
  /** … or nobody answered. */
  | { readonly action: "cancel" };

export type ElicitedValue = string | number | boolean | string[];

/** What an approval shows of the question, and what its answer is checked against. */
export function elicitationInput({ server, message, requested }: Elicitation): Record<string, unknown> {
  return {
    server,
    message,
    ...(requested.kind === "url" ? { url: requested.url } : { requested_schema: { ...requested.schema } }),
  };
}

/** A field of a form, as shown to a person. */
export interface FormField {
  readonly name: string;
  /** The server's description, and what it expects. */
  readonly about: string;
  /** The choices; empty if any text is accepted. */
  readonly options: readonly string[];
  readonly several: boolean;
  readonly required: boolean;
}

export function formFields(input: Readonly<Record<string, unknown>>): readonly FormField[] {
  const { properties, required } = formIn(input);
  return Object.entries(properties).map(([name, asked]) => ({
    name,
    about: [asked.title, asked.description, expectationOf(asked)].filter((text) => text !== undefined).join(", "),
    options: optionsOf(asked),
    several: asked.type === "array",
    required: required.includes(name),
  }));
}

function formIn(input: Readonly<Record<string, unknown>>): z.infer<typeof form> {
  return form.catch({ properties: {}, required: [] }).parse(input["requested_schema"] ?? {});
}

export type Elicited =
  | { readonly content: Readonly<Record<string, ElicitedValue>>; readonly problems?: never }
  | { readonly problems: readonly string[] };

/** Converts a person's answers, field → text, to the values that the server asked for; or returns the problems. */
export function elicitedContent(
  input: Readonly<Record<string, unknown>>,
  answers: Readonly<Record<string, string>>,
): Elicited {
  const { properties, required } = formIn(input);
  const problems = Object.keys(answers)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => `${name}: unknown field. The server asked for ${Object.keys(properties).join(", ") || "nothing"}`);
  const content: Record<string, ElicitedValue> = {};
  for (const [name, asked] of Object.entries(properties)) {
    const text = Object.hasOwn(answers, name) ? answers[name] : undefined;
    // An optional field that was left empty is omitted.
    const isLeftOut = text === undefined || (text === "" && !required.includes(name));
    if (isLeftOut && asked.default !== undefined) content[name] = asked.default;
    else if (isLeftOut && required.includes(name)) problems.push(`${name}: missing`);
    if (isLeftOut) continue;
    const value = valueOf(text, asked);
    const problem = value === undefined ? `expected ${expectationOf(asked)}` : problemWith(value, asked);
    if (problem !== undefined) problems.push(`${name}: ${problem} (found ${JSON.stringify(text)})`);
    else if (value !== undefined) content[name] = value;
  }
  return problems.length > 0 ? { problems } : { content };
}

function valueOf(text: string, asked: Field): ElicitedValue | undefined {
  switch (asked.type) {
    case "number":
    case "integer": {
      const value = Number(text);
      const isWhole = asked.type === "number" || Number.isSafeInteger(value);
      return text.trim() !== "" && Number.isFinite(value) && isWhole ? value : undefined;
    }
    case "boolean":
      return /^(true|yes)$/i.test(text.trim()) ? true : /^(false|no)$/i.test(text.trim()) ? false : undefined;
    case "array":
      return text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "");
    default:
      return text;
  }
}

function problemWith(value: ElicitedValue, asked: Field): string | undefined {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = asked;
  const size = typeof value === "number" ? value : typeof value === "boolean" ? 0 : value.length;
  const [least, most] =
    typeof value === "number"
      ? [minimum, maximum]
      : Array.isArray(value)
        ? [minItems, maxItems]
        : [minLength, maxLength];
  const options = optionsOf(asked);
  const chosen = Array.isArray(value) ? value : [String(value)];
  if (options.length > 0 && !chosen.every((one) => options.includes(one))) return `expected ${expectationOf(asked)}`;
  const unit = typeof value === "number" ? "" : Array.isArray(value) ? " choices" : " characters";
  if (least !== undefined && size < least) return `expected at least ${least}${unit}`;
  if (most !== undefined && size > most) return `expected at most ${most}${unit}`;
  return typeof value === "string" && !hasFormat(value, asked.format) ? `expected ${expectationOf(asked)}` : undefined;
}

function hasFormat(text: string, format: string | undefined): boolean {
  switch (format) {
    case "email":
      return z.email().safeParse(text).success;
    case "uri":
      return URL.canParse(text);
    case "date":
      return z.iso.date().safeParse(text).success;
    case "date-time":
      return z.iso.datetime({ offset: true }).safeParse(text).success;
    default:
      return true;
  }
}

/** The choices; empty if any text is accepted. */
function optionsOf({ enum: plain, oneOf, items }: Field): string[] {
  const titled = [...(oneOf ?? []), ...(items?.oneOf ?? []), ...(items?.anyOf ?? [])].map((one) => one.const);
  return [...(plain ?? []), ...(items?.enum ?? []), ...titled];
}

function expectationOf(asked: Field): string {
  const options = optionsOf(asked);
  const list = options.join(", ");
  switch (asked.type) {
    case "number":
      return "a number";
    case "integer":
      return "a whole number";
    case "boolean":
      return "true or false";
    case "array":
      return options.length > 0 ? `some of ${list}, separated by commas` : "texts separated by commas";
    default:
      if (options.length > 0) return `one of ${list}`;
      return asked.format === undefined ? "a text" : `text in the format ${asked.format}`;
  }
}
