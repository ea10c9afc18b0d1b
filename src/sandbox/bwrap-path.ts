import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Follows `--proc` of a sandbox. */
export const COVER_SYSCTL = ["--ro-bind", "/proc/sys", "/proc/sys"];

/**
 * Writes a `bwrap` for the CLI, which finds bubblewrap on its search path, and returns its directory. Sandboxed
 * commands can't reach `parent`. `running` are the lines of a shell script that run the real one with the script's
 * arguments.
 *
 * If the host is root, bubblewrap leaves `/proc/sys` writable, which contains `core_pattern`: a program that the kernel
 * runs outside every sandbox. So a root host's wrapper covers it.
 */
export function bwrapPath(parent: string, { running }: { readonly running: string }): string {
  const directory = join(parent, "bin");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, "bwrap");
  writeFileSync(file, `#!/bin/sh\n${process.getuid?.() === 0 ? COVERING : ""}${running}`);
  chmodSync(file, 0o700);
  return directory;
}

/** Moves the words one by one from the front to the back; ignores the command after `--`. */
const COVERING = `left=$#
before=
while [ "$left" -gt 0 ]; do
  word=$1
  shift
  left=$((left - 1))
  set -- "$@" "$word"
  if [ "$before" = --proc ]; then set -- "$@" ${COVER_SYSCTL.join(" ")}; fi
  if [ "$word" = -- ]; then before=command; elif [ "$before" != command ]; then before=$word; fi
done
`;
