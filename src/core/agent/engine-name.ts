/** What runs the agent loop: the Claude CLI with its own prompts and tools, or a loop inside the host. */
export const ENGINES = ["claude", "direct"] as const;
export type EngineName = (typeof ENGINES)[number];

/** Where neither the agent nor a setting names one. An agent or a log without an engine means this one. */
export const DEFAULT_ENGINE = "claude" satisfies EngineName;

/** Undefined for a name that is no engine's. */
export function knownEngine(name: string): EngineName | undefined {
  return ENGINES.find((known) => known === name);
}

/** What to say of a name that is no engine's. */
export function unknownEngine(name: string): string {
  return `There is no engine ${JSON.stringify(name)}. Choose one of: ${ENGINES.join(", ")}`;
}
