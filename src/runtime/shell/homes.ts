import type { ShellReading, ShellWord } from "../../core/shell/read-commands.ts";
import type { Names } from "../paths/path-names.ts";
import { expandWord, withoutWildcards } from "./expand-word.ts";
import { isMove } from "./directory-moves.ts";

/** All that `~` and `$HOME` can mean; undefined if the line sets HOME to a value known only at run time. */
export function homesOf({ variables, commands }: ShellReading, names: Names): readonly string[] | undefined {
  if (!variables.has("HOME")) return names.homes;
  const stays = !commands.some(isMove);
  const valuesOf = (name: string): readonly ShellWord[] | undefined => {
    if (name === "HOME") return names.homes.map((text) => ({ text, dynamic: false }));
    if (variables.has(name)) return variables.get(name);
    return name === "PWD" && stays ? [{ text: names.workspace, dynamic: false }] : undefined;
  };
  const patterns = variables
    .get("HOME")
    ?.map((value) => expandWord(value, { homes: names.homes, valuesOf: valuesOf }))
    .map((texts) => texts?.map(withoutWildcards));
  if (patterns === undefined) return undefined;
  const homes = patterns.flatMap((texts) => texts ?? [undefined]);
  const own = homes.filter((home) => home !== undefined);
  return own.length < homes.length ? undefined : [...names.homes, ...own];
}

/** Whether a word names something in the home directory. */
export function isAtHome({ text, dynamic }: ShellWord): boolean {
  return dynamic && /(?:^|[=:"])~(?:["/]|$)|\$\{?HOME\b/.test(text);
}
