/** The part of JSON Schema that zod writes. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
}

/** One way to write a field. */
interface Form {
  readonly schema: JsonSchema;
  /** With its name in brackets, where there are several: `tools[list]`. */
  readonly path: string;
  readonly field: string;
}

/** Something below a form: a key of it, or `*` for any. */
interface Step {
  readonly key: string;
  readonly schema: JsonSchema;
  readonly path: string;
}

/**
 * Every place of a file where a value may stand, once for each form of the fields it is in: `*` is any key and any
 * index, an open record is one place. A constant only says which form it is: it is one place for all forms.
 */
export function leavesOf(schema: JsonSchema): readonly string[] {
  return [...new Set(walk(schema, ""))];
}

function walk(schema: JsonSchema, path: string): string[] {
  return formsOf(schema, path).flatMap((form) => {
    const steps = stepsOf(form);
    return steps.length === 0 ? [form.path] : steps.flatMap((step) => walk(step.schema, step.path));
  });
}

function formsOf(schema: JsonSchema, path: string): readonly Form[] {
  if (schema.$ref !== undefined) throw new Error(`${path}: a reference is not looked into`);
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms === undefined) return [{ schema, path, field: path }];
  return forms.map((form) => ({ schema: form, path: `${path}[${formName(form, forms)}]`, field: path }));
}

const WORDS: Readonly<Record<string, string>> = { string: "text", array: "list", object: "mapping" };

function formName(form: JsonSchema, all: readonly JsonSchema[]): string {
  const alike = all.filter(({ type }) => type === form.type);
  const name = alike.length > 1 ? choices(form, discriminator(alike))?.join("|") : WORDS[form.type ?? ""];
  if (name === undefined) throw new Error(`a form that has no name: ${JSON.stringify(form)}`);
  return name;
}

/** The field that says which of several mappings it is. */
function discriminator(forms: readonly JsonSchema[]): string {
  const [first] = forms;
  return Object.keys(first?.properties ?? {}).find((key) => forms.every((form) => choices(form, key))) ?? "";
}

function choices({ properties }: JsonSchema, key: string): readonly unknown[] | undefined {
  const found = properties?.[key];
  return found?.const === undefined ? found?.enum : [found.const];
}

function stepsOf({ schema: { properties, additionalProperties, items }, path, field }: Form): readonly Step[] {
  const named = Object.entries(properties ?? {}).map(([key, schema]) => ({
    key,
    schema,
    path: joined(schema.const === undefined ? path : field, key),
  }));
  const others = [additionalProperties, items].flatMap((schema) =>
    typeof schema === "object" && Object.keys(schema).length > 0 ? [{ key: "*", schema, path: joined(path, "*") }] : [],
  );
  return [...named, ...others];
}

const joined = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/**
 * The places at which two files differ, each with the leaf that it is: with two where the files have other forms there,
 * and with its own path where the schema has nothing.
 */
export function differences(schema: JsonSchema, one: unknown, other: unknown): readonly (readonly string[])[] {
  const [first, second] = [valuesIn(schema, one), valuesIn(schema, other)];
  const places = new Set([...first.keys(), ...second.keys()]);
  return [...places].flatMap((place) => {
    const found = [first.get(place), second.get(place)];
    if (found[0]?.value === found[1]?.value) return [];
    return [[...new Set(found.flatMap((at) => (at === undefined ? [] : [at.leaf])))]];
  });
}

type Values = Map<string, { readonly leaf: string; readonly value: string }>;

function valuesIn(schema: JsonSchema, value: unknown, place = "", path = "", found: Values = new Map()): Values {
  const form = formsOf(schema, path).find((one, _, all) => isOf(one, value, all));
  const steps = form === undefined ? [] : stepsOf(form);
  if (typeof value !== "object" || value === null || steps.length === 0)
    return found.set(place, { leaf: form?.path ?? path, value: JSON.stringify(value) });
  for (const [key, below] of Object.entries(value)) {
    const at = joined(place, key);
    const step = steps.find((one) => one.key === key) ?? steps.find((one) => one.key === "*");
    if (step === undefined) found.set(at, { leaf: at, value: JSON.stringify(below) });
    else valuesIn(step.schema, below, at, step.path, found);
  }
  return found;
}

function isOf({ schema }: Form, value: unknown, all: readonly Form[]): boolean {
  if (all.length === 1) return true;
  const type = Array.isArray(value) ? "array" : typeof value;
  const alike = all.flatMap((form) => (form.schema.type === type ? [form.schema] : []));
  if (alike.length < 2) return schema.type === type;
  const key = discriminator(alike);
  const chosen = (value as Readonly<Record<string, unknown>>)[key];
  return chosen === undefined
    ? schema.required?.includes(key) !== true
    : (choices(schema, key)?.includes(chosen) ?? false);
}
