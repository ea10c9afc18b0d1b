import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** After `--proc` of a sandbox. */
export const COVER_SYSCTL = ["--ro-bind", "/proc/sys", "/proc/sys"];

/**
 * Writes a `bwrap` for the CLI, which finds bubblewrap on its search path, and returns the directory it lies in. No
 * sandboxed command may reach `parent`. `running` are the lines of a shell script that run the real one with the script's
 * arguments.
 *
 * bubblewrap leaves `/proc/sys` writable for whoever is root outside, and there is `core_pattern`: a program that the
 * kernel runs outside of every sandbox. So the one of a host that is root covers the place.
 */
export function bwrapPath(parent: string, { running }: { readonly running: string }): string {
  const directory = join(parent, "bin");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, "bwrap");
  writeFileSync(file, `#!/bin/sh\n${process.getuid?.() === 0 ? COVERING : ""}${running}`);
  chmodSync(file, 0o700);
  return directory;
}

/** Takes the words one by one from the front to the back; what follows `--` is the command and not looked at. */
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
