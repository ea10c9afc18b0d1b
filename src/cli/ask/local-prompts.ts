import type { Prompts } from "./ask-prompts.ts";

/** Questions to whoever sits at this terminal; undefined when nobody does. */
export async function promptsHere(): Promise<Prompts | undefined> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined;
  const { openPrompts } = await import("./ask-prompts.ts");
  return openPrompts(new AbortController().signal);
}
