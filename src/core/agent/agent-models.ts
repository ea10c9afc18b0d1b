import type { AgentDefinition } from "./agent-definition.ts";

/** The engine also uses a small model, for example to summarize a page. */
const SMALL = "haiku";
const FAMILIES = ["opus", "sonnet", SMALL];

/** The engine replaces these with a newer model of the same family. */
const RETIRED = /^claude-(?:3-|opus-4-(?:0|1|20\d{6})\b|sonnet-4-(?:0|20\d{6})\b)/;

/**
 * The models that a session may use, as its agent names them. `chosen` are those that a person chose for the session.
 */
export function modelsOf(
  { model, fallback_model: fallback, subagents }: AgentDefinition,
  chosen: readonly (string | undefined)[],
): string[] {
  const ofSubagents = Object.values(subagents).map((subagent) => subagent.model);
  return [...new Set([model, ...chosen, fallback, ...ofSubagents].flatMap((name) => name ?? []))];
}

/** Whether a request may use this model. A word such as `opus` covers every model of that family. */
export function isOwnModel(asked: string, own: readonly string[]): boolean {
  const name = plain(asked);
  return [...own, SMALL].map(plain).some((one) => {
    if (name === one || (name.startsWith(`${one}-`) && /^-\d{8}$/.test(name.slice(one.length)))) return true;
    if (!name.startsWith("claude-") || !(/^[a-z]+$/.test(one) || RETIRED.test(one))) return false;
    const families = one === "opusplan" ? ["opus", "sonnet"] : FAMILIES.filter((family) => one.includes(family));
    // With other words, such as `best`, the engine chooses.
    return families.length === 0 ? one !== "inherit" : families.some((family) => name.split("-").includes(family));
  });
}

/** Without the suffix for a long context. */
function plain(name: string): string {
  return name.toLowerCase().replace(/\[\w+\]$/, "");
}
