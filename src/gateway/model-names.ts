import type { Environment } from "./credentials/secret-source.ts";

/**
 * The engine uses the Anthropic API's model names, and some of its requests use a model that no user chose. Each cloud
 * has its own names; the rules are those of the engine's CLI. A name that is not a first-party one comes from the user,
 * and stays unchanged.
 */

const FIRST_PARTY = /^claude-[a-z0-9-]+$/;
const DATED = /-(\d{8})$/;

/** On Bedrock these have only a date, or a version. */
const BEDROCK_ENDINGS: Readonly<Record<string, string>> = {
  "claude-opus-4-1": "-20250805-v1:0",
  "claude-opus-4-5": "-20251101-v1:0",
  "claude-sonnet-4-5": "-20250929-v1:0",
  "claude-haiku-4-5": "-20251001-v1:0",
  "claude-opus-4-6": "-v1",
};

/** The name of an inference profile, which starts with the geography that may answer. */
export function bedrockModel(model: string, environment: Environment, region: string): string {
  if (!FIRST_PARTY.test(model)) return model;
  const area = region.startsWith("us-gov-")
    ? "us-gov"
    : environment["ANTHROPIC_BEDROCK_REGION_PREFIX"]?.trim() || areaOf(region);
  const ending = BEDROCK_ENDINGS[model] ?? (DATED.test(model) ? "-v1:0" : "");
  return `${area}.anthropic.${model}${ending}`;
}

function areaOf(region: string): string {
  const [continent = ""] = region.split("-");
  return { us: "us", eu: "eu", ap: "apac" }[continent] ?? "global";
}

/** On Vertex these have only a date. */
const VERTEX_DATES: Readonly<Record<string, string>> = {
  "claude-opus-4-1": "@20250805",
  "claude-opus-4-5": "@20251101",
  "claude-sonnet-4-5": "@20250929",
  "claude-haiku-4-5": "@20251001",
};

export function vertexModel(model: string): string {
  return FIRST_PARTY.test(model) ? model.replace(DATED, "@$1") + (VERTEX_DATES[model] ?? "") : model;
}
