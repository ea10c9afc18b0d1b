import { Argument, type Command } from "commander";
import { declareCommand } from "../declare-command.ts";

export function addCompletionCommand(program: Command): void {
  declareCommand(program, "completion", { server: "ignored" })
    .description("print a shell script that completes commands and options")
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .addHelpText("after", "\nExample:\n  $ capstan completion bash >> ~/.bashrc")
    .action((shell: "bash" | "zsh" | "fish") => void process.stdout.write(`${SCRIPTS[shell](wordsOf(program))}\n`));
}

interface Words {
  /** The words after `capstan` that lead here, such as `sessions show`. */
  readonly path: string;
  readonly words: readonly string[];
}

/** What can follow each command: its subcommands and long options. */
function wordsOf(command: Command, path: readonly string[] = []): Words[] {
  const options = command.options.flatMap(({ long }) => (long == null ? [] : [long]));
  const words = [...command.commands.map((child) => child.name()), ...options, "--help"];
  return [
    { path: path.join(" "), words },
    ...command.commands.flatMap((child) => wordsOf(child, [...path, child.name()])),
  ];
}

const SCRIPTS: Readonly<Record<"bash" | "zsh" | "fish", (words: readonly Words[]) => string>> = {
  bash: (all) => `_capstan() {
  local path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -* ]] || path="\${path:+$path }$word"; done
  local words=""
  case "$path" in
${all.map(({ path, words }) => `    "${path}") words="${words.join(" ")}" ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _capstan capstan`,
  zsh: (all) => `#compdef capstan
_capstan() {
  local line="" word
  for word in "\${words[@]:1:$((CURRENT-2))}"; do [[ $word == -* ]] || line="\${line:+$line }$word"; done
  case "$line" in
${all.map(({ path, words }) => `    "${path}") compadd -- ${words.join(" ")} ;;`).join("\n")}
    *) _files ;;
  esac
}
compdef _capstan capstan`,
  fish: (all) =>
    all
      .map(({ path, words }) => {
        const condition =
          path === "" ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${path.split(" ").at(-1) ?? ""}`;
        return `complete -c capstan -n "${condition}" -a "${words.join(" ")}"`;
      })
      .join("\n"),
};
