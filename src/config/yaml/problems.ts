import { z } from "zod";
import { nearest } from "../../core/text/nearest.ts";

/** One problem with a value. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  /** Whether the key at the end of the path is wrong, or its value. */
  readonly at: "key" | "value";
  readonly text: string;
}

/** All problems, one entry per mistake: each unknown key is a separate one. */
export function problemsOf(error: z.ZodError, { schema, value }: { schema: z.ZodType; value: unknown }): Problem[] {
  return error.issues.flatMap((issue): Problem[] => {
    if (issue.code === "unrecognized_keys") {
      const known = keysAt({ schema, value }, issue.path);
      return issue.keys.map((key) => ({ path: [...issue.path, key], at: "key", text: unknownKey(key, known) }));
    }
    if (issue.code === "invalid_key") {
      const key = String(issue.path.at(-1));
      const [inner] = issue.issues;
      return [
        {
          path: issue.path,
          at: "key",
          text: `expected ${inner?.message ?? "another key"} (found ${describeFound(key)})`,
        },
      ];
    }
    const meant = issue.code === "invalid_union" ? meantOf(issue) : undefined;
    if (meant !== undefined) return problemsOf(new z.ZodError(meant), { schema, value });
    return [{ path: issue.path, at: "value", text: expectation(issue, valueAt(value, issue.path)) }];
  });
}

/** Of several shapes, the one that was probably meant: the kind of value is right, but something in it is wrong. */
function meantOf({ path, errors }: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] | undefined {
  const meant = errors.find((issues) =>
    issues.every(({ code, path: [first] }) => code !== "invalid_type" || first !== undefined),
  );
  return meant?.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
}

/** `budget.usd`. Keys with unusual characters are quoted, so that they can't manipulate a terminal. */
export function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map(String)
    .map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key)))
    .join(".");
}

function unknownKey(key: string, known: readonly string[]): string {
  return `unknown key; ${suggestion(key, known) ?? `known keys: ${known.join(", ")}`}`;
}

function suggestion(word: unknown, known: readonly string[]): string | undefined {
  const meant = typeof word === "string" ? nearest(word, known) : undefined;
  return meant === undefined ? undefined : `did you mean ${JSON.stringify(meant)}?`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
  record: "a mapping",
};

function expectation(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${TYPES[issue.expected] ?? issue.expected} (found ${describeFound(value)})`;
    case "invalid_value":
      // A schema with its own message knows better.
      return issue.message.startsWith("Invalid ") ? oneOf(issue.values, value) : issue.message;
    case "too_small":
      return `expected ${atLeast(issue)} (found ${describeFound(value)})`;
    case "too_big":
      return `expected at most ${issue.maximum}${issue.inclusive === false ? ", exclusive" : ""} (found ${describeFound(value)})`;
    case "invalid_format":
      return `expected ${issue.message} (found ${describeFound(value)})`;
    case "invalid_union":
      // None of the shapes that one field distinguishes has this value there.
      if ("options" in issue && issue.options !== undefined) return oneOf(issue.options, value);
      return `expected ${kindsOf(issue).join(" or ")} (found ${describeFound(value)})`;
    default:
      return issue.message;
  }
}

function oneOf(values: readonly unknown[], value: unknown): string {
  const known = values.filter((one) => one !== undefined).map(String);
  const meant = suggestion(value, known);
  return `expected one of ${known.join(", ")} (found ${describeFound(value)})${meant === undefined ? "" : `; ${meant}`}`;
}

function kindsOf({ errors }: z.core.$ZodIssueInvalidUnion): string[] {
  return errors.flatMap(([issue]) => (issue?.code === "invalid_type" ? [TYPES[issue.expected] ?? issue.expected] : []));
}

function atLeast({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string {
  if (origin === "string" || origin === "array")
    return minimum === 1
      ? `${TYPES[origin] ?? origin} that is not empty`
      : `at least ${minimum} ${origin === "string" ? "characters" : "items"}`;
  return inclusive === false ? `a number greater than ${minimum}` : `a number of at least ${minimum}`;
}

const MAX_FOUND = 40;

/** A value as shown in an error: short, on one line. */
function describeFound(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.length > MAX_FOUND
    ? JSON.stringify(`${value.slice(0, MAX_FOUND)}…`)
    : JSON.stringify(value);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | false;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly required?: readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
}

/** The keys that a schema knows at a path of a value. */
function keysAt({ schema, value }: { schema: z.ZodType; value: unknown }, path: readonly PropertyKey[]): string[] {
  let shapes = shapesOf(z.toJSONSchema(schema, { io: "input" }) as JsonSchema, value);
  for (const [depth, key] of path.entries())
    shapes = shapes
      .flatMap((shape) => shape.properties?.[String(key)] ?? (shape.additionalProperties || shape.items) ?? [])
      .flatMap((shape) => shapesOf(shape, valueAt(value, path.slice(0, depth + 1))));
  return shapes.flatMap((shape) => Object.keys(shape.properties ?? {}));
}

/** The possible shapes of a value; if a constant such as its kind distinguishes them, only the matching one. */
function shapesOf(schema: JsonSchema, value: unknown): readonly JsonSchema[] {
  const { anyOf = [], oneOf: kinds = [] } = schema;
  const all = [...anyOf, ...kinds];
  if (all.length === 0) return [schema];
  const fitting = all.filter(({ properties = {}, required = [] }) =>
    Object.entries(properties).every(([key, inner]) => {
      const constants = inner.const === undefined ? inner.enum : [inner.const];
      const given = valueAt(value, [key]);
      return constants === undefined || constants.includes(given) || (given === undefined && !required.includes(key));
    }),
  );
  return fitting.length === 0 ? all : fitting;
}
