import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import { messageOf } from "../../core/errors.ts";
import type { GraderParams, JsonCheck } from "../../core/suite/grader-schema.ts";
import { valuesAt } from "../../core/suite/json-path.ts";
import { readPattern } from "../../core/suite/suite-pattern.ts";
import type { TrialTurnFacts } from "../trial/trial-facts.ts";
import { failedWith, type Finding, GraderError, passedWith, type GraderContext } from "./grader.ts";
import { matches } from "./matches.ts";
import { diffOf, readableValue, shortJson } from "./similarity/words.ts";

/** Graders for JSON: in the agent's text, and its structured output. */

export function gradeJson(given: GraderParams<"json">, turn: TrialTurnFacts): Finding {
  const found = documentOf(turn);
  return "problem" in found ? failedWith(found.problem) : checkJson(given, found.document);
}

export async function gradeJsonSchema(
  given: GraderParams<"json_schema">,
  turn: TrialTurnFacts,
  surroundings: GraderContext,
): Promise<Finding> {
  const found = documentOf(turn);
  return "problem" in found ? failedWith(found.problem) : checkSchema(given, found.document, surroundings);
}

export async function gradeOutput(
  given: GraderParams<"output">,
  turn: TrialTurnFacts,
  surroundings: GraderContext,
): Promise<Finding> {
  if (turn.output === undefined)
    return failedWith(`expected structured output (found none; the agent said ${shortJson(turn.text)})`);
  if ("schema" in given) return checkSchema(given.schema, turn.output, surroundings);
  return checkJson("value" in given ? { equals: given.value } : given, turn.output);
}

export type FoundDocument = { readonly document: unknown } | { readonly problem: string };

/** The structured output of a turn; otherwise its text as JSON, or the JSON in its only fenced block. */
export function documentOf({ text, output: structured }: TrialTurnFacts): FoundDocument {
  if (structured !== undefined) return { document: structured };
  const blocks = [...text.matchAll(/^```(?:json)?[ \t]*\n([\s\S]*?)^```[ \t]*$/gm)];
  const [block] = blocks;
  const written = blocks.length === 1 && block !== undefined ? (block[1] ?? "") : text;
  try {
    return { document: JSON.parse(written) as unknown };
  } catch (thrown) {
    return { problem: `expected JSON (found ${shortJson(text)}: ${messageOf(thrown)})` };
  }
}

/** If the path matches several values, one of them must match. */
function checkJson(check: JsonCheck, document: unknown): Finding {
  const { path = "$", exists = true } = check;
  const values = valuesAt(document, path);
  const where = path === "$" ? "the JSON" : path;
  if (!exists)
    return values.length === 0
      ? passedWith(`${path} does not exist`)
      : failedWith(`expected ${path} not to exist (found ${foundAt(values)})`);
  if (values.length === 0) return failedWith(`expected ${path} to exist (found ${shortJson(document)})`);
  if ("equals" in check && check.equals !== undefined && !values.some((one) => isDeepStrictEqual(one, check.equals)))
    return failedWith(
      `expected ${where} to be ${shortJson(check.equals)} (found ${foundAt(values)})`,
      diffOf(readableValue(check.equals), readableValue(values.length === 1 ? values[0] : values)),
    );
  const { matches: pattern } = check;
  if (pattern !== undefined && !values.some((one) => matches(readPattern(pattern), textOf(one))))
    return failedWith(`expected ${where} to match ${pattern} (found ${foundAt(values)})`);
  return passedWith(`${where} is ${foundAt(values)}`);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function foundAt(values: readonly unknown[]): string {
  return values.length === 1 ? shortJson(values[0]) : `${values.length} values: ${shortJson(values)}`;
}

async function checkSchema(
  schema: GraderParams<"json_schema">,
  document: unknown,
  { facts, deps }: GraderContext,
): Promise<Finding> {
  const schemaCheck = await deps.outputs.fromJsonSchema(
    typeof schema === "string" ? await readSchema(resolve(dirname(facts.suiteFile), schema)) : schema,
  );
  const checked = await schemaCheck.check(document);
  if ("value" in checked) return passedWith("the JSON matches the schema");
  return failedWith(
    `expected JSON that matches the schema (found ${shortJson(document)})\n${checked.problems.map((one) => `- ${one}`).join("\n")}`,
  );
}

/** JSON is also YAML. */
async function readSchema(file: string): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = await readFile(file, "utf8")
    .then((text): unknown => parse(text))
    .catch((thrown: unknown) => {
      throw new GraderError(`the schema ${file} cannot be read: ${messageOf(thrown)}`);
    });
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new GraderError(`the schema ${file} is not a mapping`);
  return value as Readonly<Record<string, unknown>>;
}
