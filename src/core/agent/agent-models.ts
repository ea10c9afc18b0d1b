import type { AgentDefinition } from "./agent-definition.ts";

/** The engine asks a small model by itself, to sum up a page for example. */
const SMALL = "haiku";
const FAMILIES = ["opus", "sonnet", SMALL];

/** The engine asks a newer model of the same family in place of these. */
const RETIRED = /^claude-(?:3-|opus-4-(?:0|1|20\d{6})\b|sonnet-4-(?:0|20\d{6})\b)/;

/** The models that a session may ask, as its agent names them. `chosen` are those of a person for the session. */
export function modelsOf(
  { model, fallback_model: fallback, subagents }: AgentDefinition,
  chosen: readonly (string | undefined)[],
): string[] {
  const ofSubagents = Object.values(subagents).map((subagent) => subagent.model);
  return [...new Set([model, ...chosen, fallback, ...ofSubagents].flatMap((name) => name ?? []))];
}

/** Whether a request may name this model. A word such as `opus` stands for every model of that family. */
export function isOwnModel(asked: string, own: readonly string[]): boolean {
  const name = plain(asked);
  return [...own, SMALL].map(plain).some((one) => {
    if (name === one || (name.startsWith(`${one}-`) && /^-\d{8}$/.test(name.slice(one.length)))) return true;
    if (!name.startsWith("claude-") || !(/^[a-z]+$/.test(one) || RETIRED.test(one))) return false;
    const families = one === "opusplan" ? ["opus", "sonnet"] : FAMILIES.filter((family) => one.includes(family));
    // Other words, such as `best`, leave the choice to the engine.
    return families.length === 0 ? one !== "inherit" : families.some((family) => name.split("-").includes(family));
  });
}

/** Without the mark for a long context. */
function plain(name: string): string {
  return name.toLowerCase().replace(/\[\w+\]$/, "");
}
