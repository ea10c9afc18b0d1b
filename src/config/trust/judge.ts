import { isDeepStrictEqual } from "node:util";
import { BUILT_IN_TOOLS } from "../../core/rules/tool-names.ts";
import { isAlias, priceOf } from "../../core/money/pricing.ts";
import { type FieldRule, type FieldRules, ruleAt } from "./fields.ts";

/** One value of a file that allows more than the layers below. */
export interface Widening {
  /** Such as `permissions.mode`. */
  readonly field: string;
  /** For a list, the entries that widen. */
  readonly value: unknown;
  /** The value without it; undefined if there is none. */
  readonly instead?: unknown;
  /** Nothing starts without trust: omitting the value could widen as well. */
  readonly isRequired: boolean;
}

export interface JudgedValues<Values> {
  /** Without the values that widen. */
  readonly kept: Values;
  readonly widens: readonly Widening[];
}

/** Splits a file's values by what the layers below allow. A field without a rule widens. */
export function judgeValues<Values extends object>(
  values: Values,
  below: object,
  rules: FieldRules,
): JudgedValues<Values> {
  return split(values, below, { rules, isBound: false });
}

/** The same for values that someone set explicitly: unset values, and those without a rule, are kept. */
export function withinBounds<Values extends object>(
  values: Values,
  said: object,
  rules: FieldRules,
): JudgedValues<Values> {
  return split(values, said, { rules, isBound: true });
}

interface Standard {
  readonly rules: FieldRules;
  readonly isBound: boolean;
}

function split<Values extends object>(
  values: Values,
  below: object,
  { rules, isBound }: Standard,
): JudgedValues<Values> {
  const widens: Widening[] = [];
  const walk = (given: unknown, under: unknown, path: readonly string[]): unknown => {
    const rule = ruleAt(rules, path);
    if (rule === undefined && isMapping(given)) return each(given, under, path);
    if (rule === undefined && Array.isArray(given) && hasRuleBelow(rules, path))
      return given.map((entry: unknown, index) => walk(entry, undefined, [...path, String(index)]));
    if (isBound && (rule === undefined || under === undefined)) return given;
    const { kept, wider, isRequired = false } = verdict(rule ?? "widens", given, under);
    if (wider !== undefined)
      widens.push({ field: path.join("."), value: wider, isRequired, ...(under !== undefined && { instead: under }) });
    return kept;
  };
  const each = (given: object, under: unknown, path: readonly string[]): object =>
    Object.fromEntries(
      Object.entries(given).flatMap(([key, value]: [string, unknown]) => {
        if (value === undefined) return [];
        const kept = walk(value, isMapping(under) ? under[key] : undefined, [...path, key]);
        return kept === undefined ? [] : [[key, kept]];
      }),
    );
  return { kept: each(values, below, []) as Values, widens };
}

interface FieldVerdict {
  readonly kept?: unknown;
  /** The part that widens; undefined if there is none. */
  readonly wider?: unknown;
  readonly isRequired?: boolean;
}

function verdict(rule: FieldRule, given: unknown, below: unknown): FieldVerdict {
  if (typeof rule !== "string") return judgeOrder(rule, given, below);
  switch (rule) {
    case "neutral":
    case "narrows":
      return { kept: given };
    case "required":
      return isEmpty(given) ? { kept: given } : { kept: given, wider: given, isRequired: true };
    case "lower":
    case "higher":
      return number(rule, given, below);
    case "subset":
    case "added":
      return list(given, below);
    case "unless below":
      return below === undefined || below === given ? { kept: given } : { wider: given };
    case "same":
      return isDeepStrictEqual(given, below) ? { kept: given } : { wider: given };
    case "model":
      return isNoDearer(String(given), below) ? { kept: given } : { wider: given };
    case "tools":
      return tools(given);
    case "workspace":
      return workspace(given, below);
    case "answers":
      return answers(given);
    case "widens":
    case "user only":
      return isEmpty(given) ? { kept: given } : { wider: given };
  }
}

/** A value from a list ordered from the widest to the strictest. */
function judgeOrder(order: readonly string[], given: unknown, below: unknown): FieldVerdict {
  const place = (value: unknown): number => order.indexOf(isMapping(value) ? "budget" : String(value));
  return place(given) >= Math.max(0, place(below)) ? { kept: given } : { wider: given };
}

function number(rule: "lower" | "higher", given: unknown, below: unknown): FieldVerdict {
  if (typeof given !== "number") return { wider: given };
  if (typeof below !== "number") return { kept: given };
  return (rule === "lower" ? given <= below : given >= below) ? { kept: given } : { wider: given };
}

function list(given: unknown, below: unknown): FieldVerdict {
  if (!Array.isArray(given)) return { wider: given };
  const known: readonly unknown[] = Array.isArray(below) ? below : [];
  const isKnown = (entry: unknown): boolean => known.some((one) => isDeepStrictEqual(one, entry));
  const wider = given.filter((entry: unknown) => !isKnown(entry));
  return wider.length === 0 ? { kept: given } : { kept: given.filter(isKnown), wider };
}

/** By the price list: without a known price this can't be decided. */
function isNoDearer(model: string, below: unknown): boolean {
  if (model === below) return true;
  if (isAlias(model)) return /^(?:haiku|sonnet)\b/i.test(model);
  const [price, other] = [priceOf(model), priceOf(String(below))];
  return price !== undefined && other !== undefined && price.input <= other.input && price.output <= other.output;
}

/** These reach beyond the workspace; other tools that are not built in come from programs. */
const REACHING: readonly string[] = ["WebFetch", "WebSearch"];
const TOOLS = new Set(BUILT_IN_TOOLS.filter((tool) => !REACHING.includes(tool)));

function tools(given: unknown): FieldVerdict {
  if (!Array.isArray(given)) return { wider: given };
  const wider = given.filter((tool: unknown) => !TOOLS.has(String(tool)));
  return wider.length === 0 ? { kept: given } : { kept: given.filter((tool) => TOOLS.has(String(tool))), wider };
}

/**
 * A separate workspace keeps the agent's changes out of the directory, so omitting it would widen; but one filled from
 * elsewhere shows the agent more.
 */
function workspace(given: unknown, below: unknown): FieldVerdict {
  if (!isMapping(given)) return { wider: given, isRequired: true };
  const isApart = isMapping(below) && below["kind"] !== "in-place";
  if (given["kind"] === "in-place") return isApart ? { wider: given } : { kept: given };
  const { mounts, from } = given;
  const sources = Array.isArray(mounts) ? mounts.map((mount: unknown) => isMapping(mount) && mount["source"]) : [from];
  return sources.every((source) => source === undefined || isWithin(source))
    ? { kept: given }
    : { kept: given, wider: given, isRequired: true };
}

/** A path below the directory that a session is started in. */
function isWithin(source: unknown): boolean {
  return typeof source === "string" && !/^[/~]|^[a-z][\w+.-]*:|@/i.test(source) && !source.split("/").includes("..");
}

function answers(given: unknown): FieldVerdict {
  const allowing = Array.isArray(given)
    ? given.filter(
        (answer: unknown) => isMapping(answer) && (answer["decision"] === "allow" || answer["plan"] === "allow"),
      )
    : [given];
  return allowing.length === 0 ? { kept: given } : { kept: given, wider: allowing, isRequired: true };
}

function hasRuleBelow(rules: FieldRules, path: readonly string[]): boolean {
  return Object.keys(rules).some((pattern) => {
    const steps = pattern.split(".");
    return steps.length > path.length && path.every((step, index) => steps[index] === "*" || steps[index] === step);
  });
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
