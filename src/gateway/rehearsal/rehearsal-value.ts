type Schema = Readonly<Record<string, unknown>>;

interface SchemaPosition {
  readonly root: Schema;
  readonly name: string;
  readonly depth: number;
}

/** Below this depth only required fields are filled, so that recursive schemas terminate. */
const OPTIONAL_DEPTH = 4;
const MAX_DEPTH = 32;

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-02T03:04:05Z",
  date: "2026-01-02",
  time: "03:04:05Z",
  duration: "PT1H",
  email: "rehearsal@example.com",
  hostname: "example.com",
  ipv4: "127.0.0.1",
  ipv6: "::1",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** A plausible value for a JSON Schema. Patterns are not solved, so such a string may not match. */
export function valueFor(schema: Schema): unknown {
  return fill(schema, { root: schema, name: "value", depth: 0 });
}

function fill(given: unknown, place: SchemaPosition): unknown {
  if (typeof given !== "object" || given === null || place.depth > MAX_DEPTH) return `rehearsal ${place.name}`;
  const schema = resolveSchema(given as Schema, place.root);
  if ("const" in schema) return schema["const"];
  for (const key of ["enum", "examples"]) if (list(schema[key]).length > 0) return list(schema[key])[0];
  if ("default" in schema) return schema["default"];
  const choices = [...list(schema["anyOf"]), ...list(schema["oneOf"])];
  if (choices.length > 0) return fill(withBase(schema, choices[0]), deeper(place, place.name));
  switch (typeOf(schema)) {
    case "object":
      return object(schema, place);
    case "array":
      return array(schema, place);
    case "integer":
    case "number":
      return number(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return string(schema, place.name);
  }
}

function resolveSchema(schema: Schema, root: Schema): Schema {
  let current = schema;
  for (let hops = 0; typeof current["$ref"] === "string" && hops < MAX_DEPTH; hops += 1) {
    const path = current["$ref"].replace(/^#\/?/, "").split("/").filter(Boolean);
    const keys = path.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    current = keys.reduce((at, key) => record(at[key]), root);
  }
  return list(current["allOf"]).reduce<Schema>(
    (all, part) => withBase(all, resolveSchema(record(part), root)),
    current,
  );
}

/** Joins one of several schemas with the base, as far as needed here. */
function withBase(base: Schema, schema: unknown): Schema {
  const { anyOf: _any, oneOf: _one, allOf: _all, ...rest } = base;
  const part = record(schema);
  return {
    ...rest,
    ...part,
    properties: { ...record(base["properties"]), ...record(part["properties"]) },
    required: [...list(base["required"]), ...list(part["required"])],
  };
}

function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  if (typeof type === "string") return type;
  if (Array.isArray(type)) return (type as string[]).find((name) => name !== "null") ?? "null";
  if (Object.keys(record(schema["properties"])).length > 0) return "object";
  return "items" in schema || "prefixItems" in schema ? "array" : undefined;
}

function object(schema: Schema, place: SchemaPosition): Record<string, unknown> {
  const required = list(schema["required"]);
  const properties = record(schema["properties"]);
  const names = [...new Set([...Object.keys(properties), ...(required as string[])])];
  const filled = names.filter((name) => required.includes(name) || place.depth < OPTIONAL_DEPTH);
  return Object.fromEntries(filled.map((name) => [name, fill(properties[name], deeper(place, name))]));
}

function array(schema: Schema, place: SchemaPosition): unknown[] {
  const fixed = list(schema["prefixItems"]);
  const wanted = Number(schema["minItems"] ?? 0);
  const usual = place.depth < OPTIONAL_DEPTH && schema["maxItems"] !== 0 && schema["items"] !== false ? 1 : 0;
  return Array.from({ length: Math.max(wanted, usual, fixed.length) }, (_, index) =>
    fill(fixed[index] ?? schema["items"], deeper(place, index === 0 ? place.name : `${place.name} ${index + 1}`)),
  );
}

function number(schema: Schema): number {
  const step = typeof schema["multipleOf"] === "number" ? schema["multipleOf"] : 1;
  const above = typeof schema["exclusiveMinimum"] === "number" ? schema["exclusiveMinimum"] + step : -Infinity;
  const below = typeof schema["exclusiveMaximum"] === "number" ? schema["exclusiveMaximum"] - step : Infinity;
  const minimum = Math.max(Number(schema["minimum"] ?? -Infinity), above);
  const maximum = Math.min(Number(schema["maximum"] ?? Infinity), below);
  const value = Math.ceil(Math.max(1, minimum) / step) * step;
  if (value <= maximum) return value;
  const highest = Math.floor(maximum / step) * step;
  return highest >= minimum ? highest : (minimum + maximum) / 2;
}

function string(schema: Schema, name: string): string {
  const format = FORMATS[String(schema["format"])];
  if (format !== undefined) return format;
  return `rehearsal ${name}`
    .padEnd(Number(schema["minLength"] ?? 0), ".")
    .slice(0, Number(schema["maxLength"] ?? Infinity));
}

function deeper(place: SchemaPosition, name: string): SchemaPosition {
  return { ...place, name, depth: place.depth + 1 };
}

function record(value: unknown): Schema {
  return typeof value === "object" && value !== null ? (value as Schema) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
