import type { SessionPatch } from "../../../src/client/index.ts";

export type EngineName = NonNullable<SessionPatch["engine"]>;

/** The engines, with a description. */
export const ENGINES: Readonly<Record<EngineName, string>> = {
  claude: "the Claude CLI, with its own prompts and tools",
  direct: "a loop inside the host, lightweight and fast",
};

export const ENGINE_NAMES = Object.keys(ENGINES) as readonly EngineName[];
