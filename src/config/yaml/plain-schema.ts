type Check = (value: unknown) => boolean;

const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];
const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isAnything: Check = () => true;
const isType: Check = (value) => typeof value === "string" && TYPES.includes(value);

/** The most common keywords, and what their values must be. */
const KEYWORDS: Readonly<Record<string, Check>> = {
  title: isText,
  description: isText,
  default: isAnything,
  const: isAnything,
  examples: Array.isArray,
  enum: (value) => isListOf(value, isAnything) && value.length > 0,
  type: (value) => isType(value) || (isListOf(value, isType) && value.length > 0),
  format: isText,
  minimum: isNumber,
  maximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  required: (value) => isListOf(value, isText),
  properties: (value) => isMapping(value) && Object.values(value).every(isSchema),
  additionalProperties: (value) => typeof value === "boolean" || isSchema(value),
  items: isSchema,
  anyOf: (value) => isListOf(value, isSchema) && value.length > 0,
  oneOf: (value) => isListOf(value, isSchema) && value.length > 0,
};

/**
 * Whether a JSON Schema is certainly valid: it uses only common keywords, correctly. Any other schema needs a schema
 * compiler, which takes longer to load than everything else that checks an agent file.
 */
export function isPlainSchema(schema: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(schema).every(
    ([keyword, value]) => Object.hasOwn(KEYWORDS, keyword) && KEYWORDS[keyword]?.(value) === true,
  );
}

function isSchema(value: unknown): boolean {
  return isMapping(value) && isPlainSchema(value);
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Without duplicates. */
function isListOf(value: unknown, check: Check): value is readonly unknown[] {
  return (
    Array.isArray(value) &&
    value.every(check) &&
    new Set(value.map((entry: unknown) => JSON.stringify(entry))).size === value.length
  );
}
