import type { ShellWord } from "../../core/shell/read-commands.ts";

interface Command {
  readonly words: readonly ShellWord[];
}

/** With these, a command may run after one that is written behind it. */
const OUT_OF_ORDER = /\b(?:for|while|until|select|function|trap)\b|\(\s*\)/;

/** Whether a command changes the directory. */
export function isMove({ words: [program] }: Command): boolean {
  return /^(?:cd|pushd|popd)$/.test(program?.text ?? "");
}

/** Whether a command goes to a directory that only the shell remembers: `cd -`, `popd`, `pushd` or `pushd +1`. */
export function isReturn(command: Command): boolean {
  const [program, ...words] = command.words;
  if (!isMove(command) || program?.text === "popd") return isMove(command);
  return program?.text === "cd"
    ? words.some(({ text }) => text === "-")
    : words.every(({ text }) => /^[-+]/.test(text));
}

/** The command that goes back, as it is written, and the commands that may run where it leads. */
export function returnIn<Each extends Command>(
  commands: readonly Each[],
  line: string,
): { readonly by: string; readonly following: readonly Each[] } | undefined {
  const at = commands.findIndex(isReturn);
  const found = commands[at];
  if (found === undefined) return undefined;
  const isOrdered = !OUT_OF_ORDER.test(line.replaceAll("\\\n", ""));
  const following = commands.slice(isOrdered ? at + 1 : 0).filter((one) => !isMove(one));
  return { by: `\`${found.words.map(({ text }) => text).join(" ")}\``, following };
}
