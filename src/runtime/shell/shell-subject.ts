import type { NamedPath, Redirection, ShellSubject } from "../../core/rules/subject.ts";
import { readCommands, type ShellWord } from "../../core/shell/read-commands.ts";
import type { Names } from "../paths/path-names.ts";
import { basesOf } from "./base-directories.ts";
import { findMentions } from "./mentions.ts";
import { isMove } from "./directory-moves.ts";

/** Describes a shell command: the commands in it and the files they name. */
export function shellSubject(command: string, names: Names): ShellSubject {
  const reading = readCommands(command);
  const { commands, writes, reads, unclear } = reading;
  const directories = basesOf(reading, command, names);
  const { lost } = directories;
  const relative = [...writes.map(({ path }) => path), ...reads].some(({ text }) => !/^[/~]/.test(text));
  const locateRedirection = ({ text, dynamic }: ShellWord): Redirection => ({
    text,
    places: dynamic ? [] : distinct(directories.bases.flatMap((base) => names.places(text, base))),
  });
  const { mentions, searched, vague: words, isCut } = findMentions(reading, directories.bases, names);
  const hasMore = lost !== undefined && commands.slice(lost.from).some((one) => !isMove(one));
  const vague = [...words, ...(hasMore ? [`a command after ${lost.by}`] : [])];
  return {
    commands: commands.map(({ words, assignments, via, effects }) => ({
      words: words.map(({ text, dynamic }) => ({ text, dynamic })),
      assignments: [...assignments],
      via: [...via],
      ...(effects.length > 0 && { effects: [...effects] }),
    })),
    writes: writes.map(({ path }) => locateRedirection(path)),
    reads: reads.map(locateRedirection),
    mentions: distinct(mentions),
    ...(isCut && { more_mentions: true }),
    ...(searched.length > 0 && { searched }),
    ...(vague.length > 0 && { vague }),
    ...(lost !== undefined && { lost }),
    unclear: [
      ...unclear,
      ...(relative && !directories.areKnown ? ["It changes its directory, and then names files relative to it."] : []),
    ],
  };
}

function distinct(places: readonly NamedPath[]): NamedPath[] {
  return [...new Map(places.map((place) => [`${place.named}\0${place.real}`, place])).values()];
}
