import type { Environment } from "./credentials/secret-source.ts";

/**
 * The engine names models as the Anthropic API does, and some of its requests name a model that no user chose. Each
 * cloud has names of its own; the rules are those of the engine's own command line. A name that is no first-party one
 * is the user's, and stays as it is.
 */

const FIRST_PARTY = /^claude-[a-z0-9-]+$/;
const DATED = /-(\d{8})$/;

/** On Bedrock these are known with a date alone, or with a version. */
const BEDROCK_ENDINGS: Readonly<Record<string, string>> = {
  "claude-opus-4-1": "-20250805-v1:0",
  "claude-opus-4-5": "-20251101-v1:0",
  "claude-sonnet-4-5": "-20250929-v1:0",
  "claude-haiku-4-5": "-20251001-v1:0",
  "claude-opus-4-6": "-v1",
};

/** The name of an inference profile, which begins with the part of the world that may answer. */
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

/** On Vertex these are known with a date alone. */
const VERTEX_DATES: Readonly<Record<string, string>> = {
  "claude-opus-4-1": "@20250805",
  "claude-opus-4-5": "@20251101",
  "claude-sonnet-4-5": "@20250929",
  "claude-haiku-4-5": "@20251001",
};

export function vertexModel(model: string): string {
  return FIRST_PARTY.test(model) ? model.replace(DATED, "@$1") + (VERTEX_DATES[model] ?? "") : model;
}
