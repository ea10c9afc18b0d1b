/** The engines: the Claude CLI with its own prompts and tools, or a loop inside the host. */
export const ENGINES = ["claude", "direct"] as const;
export type EngineName = (typeof ENGINES)[number];

/** Used if neither the agent nor a setting names one. An agent or a log without an engine means this one. */
export const DEFAULT_ENGINE = "claude" satisfies EngineName;

/** Undefined for an unknown name. */
export function knownEngine(name: string): EngineName | undefined {
  return ENGINES.find((known) => known === name);
}

/** The message for an unknown name. */
export function unknownEngine(name: string): string {
  return `Unknown engine ${JSON.stringify(name)}. Choose one of: ${ENGINES.join(", ")}`;
}
