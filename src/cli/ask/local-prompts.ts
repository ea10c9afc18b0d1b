import type { Prompts } from "./ask-prompts.ts";

/** Opens prompts at this terminal; undefined if there is none. */
export async function localPrompts(): Promise<Prompts | undefined> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined;
  const { openPrompts } = await import("./ask-prompts.ts");
  return openPrompts(new AbortController().signal);
}
