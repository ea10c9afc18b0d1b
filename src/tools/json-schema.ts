import { createContext, Script } from "node:vm";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { CapstanError, messageOf } from "../core/errors.ts";

export interface SchemaProblem {
  /** JSON Pointer into the value, such as `/items/0/name`; empty for the value itself. */
  readonly path: string;
  /** What was expected there. */
  readonly message: string;
}

/** All problems of a value; empty if it matches. */
export type JsonSchemaCheck = (value: unknown) => readonly SchemaProblem[];

type JsonSchema = Readonly<Record<string, unknown>>;

const OPTIONS = { allErrors: true, strictTypes: false, strictTuples: false, logger: false } as const;
/** Checks whether a schema is valid. Creating it is slow, so there is only one. */
const DRAFT = new Ajv2020(OPTIONS);

/**
 * Compiles a JSON Schema (draft 2020-12) to a check. Unknown keywords are errors, because they are usually typos that
 * would let wrong values through. Our own schemas skip that check, which would delay a host's first tool call by 100 ms.
 */
export function compileJsonSchema(schema: JsonSchema, { isOurs = false } = {}): JsonSchemaCheck {
  // An instance of its own for each schema: two schemas may carry the same `$id`.
  const ajv = new Ajv2020({ ...OPTIONS, validateSchema: false });
  addFormats.default(ajv);
  // The list of formats is open: zod, for example, writes its own names next to the pattern that does the check.
  for (const { key, value } of keywordsOf(schema))
    if (key === "format" && typeof value === "string" && !Object.hasOwn(ajv.formats, value)) ajv.addFormat(value, true);
  if (schema["$async"] !== undefined) throw invalid([{ path: "/$async", message: "is not supported" }]);
  try {
    if (!isOurs && DRAFT.validateSchema(schema) !== true) throw invalid(problemsOf(DRAFT.errors));
    const validate = ajv.compile(schema);
    const check: JsonSchemaCheck = (value) => (validate(value) ? [] : problemsOf(validate.errors));
    return keywordsOf(schema).some(({ key }) => PATTERNS.has(key)) ? boundedCheck(check) : check;
  } catch (error) {
    if (error instanceof CapstanError) throw error;
    const message = messageOf(error);
    const place = keywordsOf(schema).find((keyword) => isBlamed(keyword, message));
    throw invalid([{ path: place?.at ?? "", message }], error);
  }
}

/** Some patterns take years for a malicious text. Such a value does not match. */
const PATTERNS = new Set(["pattern", "patternProperties"]);
/** Milliseconds; the host is blocked meanwhile. */
const LONGEST_MS = 1_000;

function boundedCheck(check: JsonSchemaCheck): JsonSchemaCheck {
  // Only a script can have a timeout; the script contains nothing but the check.
  const place: { check?: () => ReturnType<JsonSchemaCheck> } = {};
  const context = createContext(place);
  const script = new Script("check()");
  return (value) => {
    place.check = () => check(value);
    try {
      return script.runInContext(context, { timeout: LONGEST_MS }) as ReturnType<JsonSchemaCheck>;
    } catch (thrown) {
      if ((thrown as { readonly code?: unknown } | null)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw thrown;
      return [{ path: "", message: "cannot be checked: a pattern of the schema takes too long for this value" }];
    } finally {
      delete place.check;
    }
  };
}

/** `/items/0: must be string; …` */
export function describeProblems(problems: readonly SchemaProblem[]): string {
  return problems.map(({ path, message }) => `${path || "(root)"}: ${message}`).join("; ");
}

function invalid(problems: readonly SchemaProblem[], cause?: unknown): CapstanError {
  const message = `The JSON Schema is not valid as draft 2020-12. ${describeProblems(problems)}`;
  return new CapstanError("invalid_schema", message, { data: { problems }, cause });
}

function problemsOf(errors: readonly ErrorObject[] | null | undefined): readonly SchemaProblem[] {
  const problems = (errors ?? []).map((error) => ({ path: error.instancePath, message: expectation(error) }));
  // A schema that is reached twice reports the same problem twice.
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}

/** Adds details that Ajv's messages omit. */
function expectation({ message = "is not valid", params }: ErrorObject): string {
  const named = params["additionalProperty"] ?? params["unevaluatedProperty"];
  if (named !== undefined) return `${message}: ${JSON.stringify(named)}`;
  const allowed = params["allowedValues"] ?? params["allowedValue"];
  return allowed === undefined ? message : `${message}: ${JSON.stringify(allowed)}`;
}

interface Keyword {
  /** JSON Pointer into the schema. */
  readonly at: string;
  readonly key: string;
  readonly value: unknown;
}

/** Keywords whose keys are names that the schema's author chose. */
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

function* keywordsOf(node: unknown, keysAreNames = false): Generator<Keyword> {
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    const at = `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!keysAreNames) yield { at, key, value };
    for (const below of keywordsOf(value, !keysAreNames && MAPS.has(key))) yield { ...below, at: at + below.at };
  }
}

/** Whether an error of Ajv's compiler, which seldom has a position, is about this keyword. */
function isBlamed({ key, value }: Keyword, message: string): boolean {
  if (key === "enum") return message.startsWith("enum ") && Array.isArray(value) && value.length === 0;
  if (key === "$ref") return message.includes(`reference ${String(value)} `);
  if (key === "pattern") return message.includes(`/${String(value)}/`);
  return message.includes(`"${key === "$schema" ? String(value) : key}"`);
}
