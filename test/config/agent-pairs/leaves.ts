/** The part of JSON Schema that zod writes. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
}

/** Every place of a file where a value may stand: `*` is any key and any index. An open record is one place. */
export function leavesOf(schema: JsonSchema): readonly string[] {
  return [...new Set(walk(schema, []))];
}

function walk({ anyOf, oneOf, properties, additionalProperties, items, $ref }: JsonSchema, path: string[]): string[] {
  if ($ref !== undefined) throw new Error(`${path.join(".")}: a reference is not looked into`);
  const alternatives = anyOf ?? oneOf;
  if (alternatives !== undefined) return alternatives.flatMap((alternative) => walk(alternative, path));
  const below: readonly (readonly [string, JsonSchema])[] = [
    ...Object.entries(properties ?? {}),
    ...[additionalProperties, items].flatMap((one) =>
      typeof one === "object" && Object.keys(one).length > 0 ? [["*", one] as const] : [],
    ),
  ];
  return below.length === 0 ? [path.join(".")] : below.flatMap(([key, one]) => walk(one, [...path, key]));
}

/** The leaves at which two files differ. */
export function differences(leaves: readonly string[], one: unknown, other: unknown): readonly string[] {
  return [...new Set(paths(one, other, []).map((path) => leafAt(leaves, path)))];
}

function paths(one: unknown, other: unknown, path: readonly string[]): readonly (readonly string[])[] {
  if (JSON.stringify(one) === JSON.stringify(other)) return [];
  const [first, second] = [entries(one), entries(other)];
  if (first === undefined && second === undefined) return [path];
  const keys = new Set([...Object.keys(first ?? {}), ...Object.keys(second ?? {})]);
  // A text in the place of a record: the place itself.
  if ((one !== undefined && first === undefined) || (other !== undefined && second === undefined)) return [path];
  return [...keys].flatMap((key) => paths(first?.[key], second?.[key], [...path, key]));
}

function entries(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null ? { ...(value as Record<string, unknown>) } : undefined;
}

/** The longest that the path leads to or through. */
function leafAt(leaves: readonly string[], path: readonly string[]): string {
  const fitting = leaves.filter((leaf) => {
    const steps = leaf.split(".");
    return steps.length <= path.length && steps.every((step, index) => step === "*" || step === path[index]);
  });
  return fitting.toSorted((a, b) => b.split(".").length - a.split(".").length)[0] ?? path.join(".");
}
