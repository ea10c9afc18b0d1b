/**
 * How one command runs, as three layers of text. The host writes all three; values reach bash through a file, so that
 * none appears on a command line or reaches the programs that contain and confine the shell.
 *
 * - `INIT` runs first, contained but not confined. It stays the parent of everything the command leaves behind.
 * - `runText` is the command's own shell, confined if the session is. It saves its environment when it ends.
 * - `commandFile` is the file that shell reads: variables, directory and command.
 */

/** Descriptors of `INIT`: its report, and where the command's shell saves its state. */
export const REPORT_FD = 4;
export const STATE_FD = 5;
/** Of the command's shell: a number that scripts don't use by chance. */
const SAVE_FD = 197;

/** The first and last line of the report. Only `INIT` can write it. */
export const READY = "ready\n";
export const REPORT_END = "end\n";

/**
 * Arguments: the path of `cat`, and the command. Outputs pass through `cat` because the host's ends are sockets, and
 * `/dev/stdout` can't be opened on a socket.
 *
 * A child that the command left behind may hold the outputs open for hours. So the host waits for the report and for a
 * mark at the end of each output, and this shell lives until the last such child has ended or the host closes its
 * input. The host chooses the mark only after it has the report: while the command runs, nothing it prints can fake its
 * own end.
 *
 * The command starts only when the host says so. A kill that arrives while `unshare` starts this shell does not reach
 * it; then its input is closed, and it starts nothing.
 */
export const INIT = `cat=$1
shift
exec 6> >(exec "$cat" ${REPORT_FD}>&- ${STATE_FD}>&-)
exec 7> >(exec "$cat" >&2 6>&- ${REPORT_FD}>&- ${STATE_FD}>&-)
exec 2>/dev/null
printf %s '${READY}' >&${REPORT_FD}
read -r go || exit 0
"$@" </dev/null >&6 2>&7 ${SAVE_FD}>&${STATE_FD} 6>&- 7>&- ${REPORT_FD}>&- ${STATE_FD}>&-
status=$?
{ echo "$status"; times; printf %s '${REPORT_END}'; } >&${REPORT_FD}
exec ${REPORT_FD}>&-
read -r mark || exit 0
for fd in 6 7 ${STATE_FD}; do printf %s "$mark" >&$fd; done 2>/dev/null
exec 6>&- 7>&- ${STATE_FD}>&-
[ "$$" = 1 ] || exit 0
for pause in 0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5 1; do
  while :; do
    processes=(/proc/[0-9]*)
    [ "\${#processes[@]}" -le 1 ] && exit 0
    read -r -t "$pause" && exit 0
    [ $? -gt 128 ] || exit 0
    [ "$pause" = 1 ] || break
  done
done
`;

/**
 * The shell saves once: when the command returns, or in its trap when the command calls `exit`. A command that replaces
 * the shell (`exec`) or the trap saves nothing, and the state stays unchanged.
 */
export function runText({ file, env }: { readonly file: string; readonly env: string }): string {
  const save = [
    "{ set +evx; } 2>/dev/null",
    `if [ -z "\${__capstan_saved-}" ]; then __capstan_saved=1`,
    `${quoteWord(env)} -0 2>/dev/null >&${SAVE_FD}`,
    "fi",
  ].join("; ");
  // On one line, so that bash counts lines from the command's first.
  return [
    `trap ${quoteWord(save)} EXIT`,
    `. ${quoteWord(file)}`,
    'eval "$__capstan_command"',
    "__capstan_status=$?",
    save,
    'exit "$__capstan_status"',
  ].join("; ");
}

export function commandFile({
  variables,
  directory,
  command,
}: {
  readonly variables: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly command: string;
}): string {
  const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${quoteWord(value)}`);
  // Requires exactly this directory, even if a link has replaced it; `cd -` must not lead to a directory that no rule
  // has checked.
  const start = `cd -P -- ${quoteWord(directory)} && [ "$PWD" = ${quoteWord(directory)} ] && unset OLDPWD || exit`;
  return [...exports, start, `__capstan_command=${quoteWord(command)}`, ""].join("\n");
}

function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
