import type { ShellReading, ShellWord } from "../../../src/core/shell/read-commands.ts";

/** The commands of a reading as text, for tables. */
export function commandTexts({ commands }: ShellReading): string[] {
  return commands.map(({ words }) => words.map(shownWord).join(" "));
}

function shownWord({ text, dynamic }: ShellWord): string {
  if (dynamic) return `«${text}»`;
  return text === "" || /\s/.test(text) ? `'${text}'` : text;
}

/** Whether something may run that is not listed: the line is not understood, or an option runs a program. */
export function mayHide({ commands, unclear }: ShellReading): boolean {
  return unclear.length > 0 || commands.some(({ effects }) => effects.some(({ does }) => does === "runs a program"));
}
