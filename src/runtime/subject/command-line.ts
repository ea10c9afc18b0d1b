import type { CalledTool } from "./call-subject.ts";

/**
 * The command line that a Bash call is checked by; undefined if it has none. A command that starts in another directory
 * is checked like a line that begins with a `cd` to it.
 */
export function commandLine({ input, directory }: Pick<CalledTool, "input" | "directory">): string | undefined {
  const { command } = input;
  if (typeof command !== "string" || directory === undefined) return typeof command === "string" ? command : undefined;
  return `cd '${directory.replaceAll("'", String.raw`'\''`)}'\n${command}`;
}
