import type { ShellWord } from "../../core/shell/read-commands.ts";

interface Command {
  readonly words: readonly ShellWord[];
}

/** With these, a command may run after one that follows it in the text. */
const OUT_OF_ORDER = /\b(?:for|while|until|select|function|trap)\b|\(\s*\)/;

/** Whether the commands of a line run in the order they are written. */
export function isOrdered(line: string): boolean {
  return !OUT_OF_ORDER.test(line.replaceAll("\\\n", ""));
}

/** Whether a command changes the directory. */
export function isMove({ words: [program] }: Command): boolean {
  return /^(?:cd|pushd|popd)$/.test(program?.text ?? "");
}

/** Whether a command runs partly unknown text that changes the directory. */
export function isHiddenMove({ words: [program, ...words] }: Command): boolean {
  return (
    /^(?:.*\/)?(?:eval|sh|bash|dash|zsh)$/.test(program?.text ?? "") &&
    words.some(({ dynamic }) => dynamic) &&
    words.some(({ text, dynamic }) => (dynamic || program?.text === "eval") && /\b(?:cd|pushd|popd)\b/.test(text))
  );
}

/** Whether a command goes to a directory that only the shell remembers: `cd -`, `popd`, `pushd` or `pushd +1`. */
export function isReturn(command: Command): boolean {
  const [program, ...words] = command.words;
  if (!isMove(command) || program?.text === "popd") return isMove(command);
  return program?.text === "cd"
    ? words.some(({ text }) => text === "-")
    : words.every(({ text }) => /^[-+]/.test(text));
}
