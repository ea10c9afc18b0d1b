import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireVariables } from "../../../core/auth/gateway-variables.ts";
import { keepingOutput } from "../results/failed-output.ts";

/** With these variables, a command could call the model without a log entry, or talk to the CLI. */
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
  /** Readable in the sandbox; only the host writes it. */
  readonly shown: string;
  /** Hidden in the sandbox. */
  readonly hidden: string;
  /** The real shell. */
  readonly bash: string;
  /** Search path of the commands. */
  readonly path: string;
  /** Where the output of failed commands is kept, outside the sandbox. */
  readonly outputs: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that only commands outside the sandbox get. */
  readonly hiddenVariables: readonly string[];
}

/**
 * Gives the session's variables to its commands and to nothing else. The CLI puts the content of `CLAUDE_ENV_FILE` in
 * front of each command, after the permission gate and inside the sandbox, so neither the CLI nor the programs that
 * start it or the sandbox ever have these variables. The shell is a wrapper: it unsets the CLI's own variables before
 * bash starts, so that a command can't read them even from `/proc`. Returns the variables that the CLI needs.
 */
export function writeCommandShell(parts: CommandShell): Record<string, string> {
  const { shown, hidden, variables, hiddenVariables, path, bash, outputs } = parts;
  requireVariables(variables);
  const isHidden = ([name]: readonly [string, string]): boolean => hiddenVariables.includes(name);
  const all = Object.entries({ PATH: path, ...variables });
  const open = write(shown, "variables.sh", exports(all.filter((entry) => !isHidden(entry))));
  const closed = write(hidden, "variables.sh", exports(all.filter(isHidden)));
  // The CLI passes this text on the command line, so it must not contain values.
  const read = [`. ${quoteWord(open)}`, `if [ -r ${quoteWord(closed)} ]; then . ${quoteWord(closed)}; fi`].join("\n");
  const running = keepingOutput(quoteWord(bash), { directory: quoteWord(outputs), path: quoteWord(path) });
  // A separate process waits for the command, because `/proc` shows the variables a process was started with.
  const waiting = write(shown, "waiting.sh", running);
  const start = `exec /bin/sh ${quoteWord(waiting)} "$@"`;
  const shell = write(shown, "bash", `#!/bin/sh\nunset ${OF_THE_CLI.join(" ")}\n${start}\n`);
  chmodSync(shell, 0o700);
  return { CLAUDE_CODE_SHELL: shell, CLAUDE_ENV_FILE: write(hidden, "environment", `${read}\n`) };
}

function write(directory: string, name: string, text: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, name), text, { mode: 0o600 });
  return join(directory, name);
}

/** Always succeeds, whatever the last line did: the CLI runs the command only then. */
function exports(variables: readonly (readonly [string, string])[]): string {
  return [...variables.map(([name, value]) => `export ${name}=${quoteWord(value)}`), ":"].join("\n") + "\n";
}

/** Quotes text as one shell word. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
