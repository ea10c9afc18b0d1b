import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireVariables } from "../../../core/auth/gateway-variables.ts";
import { keepingOutput } from "../results/failed-output.ts";

/** With these a command could ask the model past the log, or speak to the CLI. */
const OF_THE_CLI = [
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_BASE_URL",
  "CLAUDE_CODE_MESSAGING_SOCKET",
  "CLAUDE_CODE_MESSAGING_TOKEN",
  "CLAUDE_CODE_SHELL",
  "CLAUDE_ENV_FILE",
  "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL",
];

interface CommandShell {
  /** Readable in the sandbox, and written by nobody but the host. */
  readonly shown: string;
  /** Hidden in the sandbox. */
  readonly hidden: string;
  /** The real shell. */
  readonly bash: string;
  /** Search path of the commands. */
  readonly path: string;
  /** Where the outputs of commands that fail are kept, outside the sandbox. */
  readonly outputs: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that only commands outside the sandbox have. */
  readonly hiddenVariables: readonly string[];
}

/**
 * Gives the session's variables to its commands and to nothing else. The CLI puts the content of `CLAUDE_ENV_FILE` in
 * front of each command, behind the permission gate and within the sandbox, so neither the CLI nor what starts it or
 * the sandbox ever has these variables. The shell is one of ours: it drops what belongs to the CLI alone before bash
 * starts, so that not even `/proc` has it for a command. Returns what the CLI needs to know.
 */
export function writeCommandShell(parts: CommandShell): Record<string, string> {
  const { shown, hidden, variables, hiddenVariables, path, bash, outputs } = parts;
  requireVariables(variables);
  const isHidden = ([name]: readonly [string, string]): boolean => hiddenVariables.includes(name);
  const all = Object.entries({ PATH: path, ...variables });
  const open = write(shown, "variables.sh", exports(all.filter((entry) => !isHidden(entry))));
  const closed = write(hidden, "variables.sh", exports(all.filter(isHidden)));
  // The CLI passes this text on the command line, where it must not hold a value.
  const read = [`. ${quoted(open)}`, `if [ -r ${quoted(closed)} ]; then . ${quoted(closed)}; fi`].join("\n");
  const running = keepingOutput(quoted(bash), { directory: quoted(outputs), path: quoted(path) });
  // A process of its own waits for the command, and `/proc` shows what that one was started with.
  const waiting = write(shown, "waiting.sh", running);
  const start = `exec /bin/sh ${quoted(waiting)} "$@"`;
  const shell = write(shown, "bash", `#!/bin/sh\nunset ${OF_THE_CLI.join(" ")}\n${start}\n`);
  chmodSync(shell, 0o700);
  return { CLAUDE_CODE_SHELL: shell, CLAUDE_ENV_FILE: write(hidden, "environment", `${read}\n`) };
}

function write(directory: string, name: string, text: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, name), text, { mode: 0o600 });
  return join(directory, name);
}

/** Ends well whatever became of the last line: the CLI runs the command only if it does. */
function exports(variables: readonly (readonly [string, string])[]): string {
  return [...variables.map(([name, value]) => `export ${name}=${quoted(value)}`), ":"].join("\n") + "\n";
}

/** As one word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
