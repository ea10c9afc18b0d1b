import type { Engine } from "../core/engine.ts";
import type { SessionRecord } from "../core/store.ts";
import { hookMatchers } from "./hooks-list.ts";
import type { SessionOptions } from "./session-options.ts";

/** Throws what is wrong with the agent, the place or what the program gives, before anything is stored or started. */
export function requireUsable(
  engine: Engine,
  { agent, cwd }: Pick<SessionRecord, "agent" | "cwd">,
  { tools = [], hooks }: SessionOptions,
): void {
  engine.validate({ agent, cwd, tools, matchers: hookMatchers(agent.hooks, hooks) });
}
