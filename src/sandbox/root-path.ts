import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * bubblewrap leaves `/proc/sys` writable for whoever is root outside, and there is `core_pattern`: a program that the
 * kernel runs outside of every sandbox. The CLI finds bubblewrap on its search path, so a host that is root gives it one
 * that covers the place. The file lies where no sandboxed command can reach it.
 */
export function rootPath(path: string, { stateDir, bwrap }: { stateDir: string; bwrap: string }): string {
  if (process.getuid?.() !== 0) return path;
  const directory = join(stateDir, "bin");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, "bwrap");
  writeFileSync(file, script(bwrap));
  chmodSync(file, 0o700);
  return `${directory}:${path}`;
}

/** The same for a sandbox of our own, after its `--proc`. */
export const COVER_SYSCTL = ["--ro-bind", "/proc/sys", "/proc/sys"];

/** Takes the words one by one from the front to the back; what follows `--` is the command and not looked at. */
function script(bwrap: string): string {
  return `#!/bin/sh
left=$#
before=
while [ "$left" -gt 0 ]; do
  word=$1
  shift
  left=$((left - 1))
  set -- "$@" "$word"
  if [ "$before" = --proc ]; then set -- "$@" ${COVER_SYSCTL.join(" ")}; fi
  if [ "$word" = -- ]; then before=command; elif [ "$before" != command ]; then before=$word; fi
done
exec '${bwrap.replaceAll("'", String.raw`'\''`)}' "$@"
`;
}
