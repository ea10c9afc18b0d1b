import type { SessionPatch } from "../../../src/client/index.ts";

export type EngineName = NonNullable<SessionPatch["engine"]>;

/** What runs a session, and what it is for. */
export const ENGINES: Readonly<Record<EngineName, string>> = {
  claude: "the Claude CLI, with its own prompts and tools",
  direct: "a loop inside the host, light and fast",
};

export const ENGINE_NAMES = Object.keys(ENGINES) as readonly EngineName[];
