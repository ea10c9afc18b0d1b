import { claudeEngine } from "../engines/claude/engine.ts";
import { findContainment } from "../engines/claude/process.ts";
import { createToolServer } from "./lazy-tools.ts";

/** What can be known of the engine without starting an agent. */
export function diagnoseEngine(): { readonly version: string; readonly contained: boolean } {
  const { version } = claudeEngine({ path: "", retries: 0 }, { createToolServer });
  return { version, contained: findContainment() !== undefined };
}
