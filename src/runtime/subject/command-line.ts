import type { CalledTool } from "./call-subject.ts";

/**
 * The line that a call of Bash is judged by; undefined when it has none. A command that starts in another directory is
 * what it would be on a line that begins by going there.
 */
export function commandLine({ input, directory }: Pick<CalledTool, "input" | "directory">): string | undefined {
  const { command } = input;
  if (typeof command !== "string" || directory === undefined) return typeof command === "string" ? command : undefined;
  return `cd '${directory.replaceAll("'", String.raw`'\''`)}'\n${command}`;
}
