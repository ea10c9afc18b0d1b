import type { PlainWord } from "./plain-word.ts";

/**
 * The content of a line, as one text for each simple command, loop and redirected group. The parser and the grammar
 * each create theirs; if they differ, one of them has misread the line.
 */
export type Written = string[];

export interface WrittenWord {
  readonly source: string;
  readonly value: string | undefined;
}

export interface WrittenRedirection {
  readonly descriptor: string;
  readonly operator: string;
  /** The target, or the content of a here-document. */
  readonly target: WrittenWord;
}

function writtenWord({ source, value }: WrittenWord | PlainWord): string {
  return value === undefined ? `$${source}` : `=${value}`;
}

export function writtenCommand(
  assignments: readonly WrittenWord[],
  words: readonly WrittenWord[],
  redirections: readonly WrittenRedirection[],
): string {
  return JSON.stringify([
    assignments.map(writtenWord),
    words.map(writtenWord),
    redirections.map(({ descriptor, operator, target }) => [descriptor, operator, writtenWord(target)]),
  ]);
}

export function writtenLoop(variable: string, words: readonly WrittenWord[]): string {
  return JSON.stringify(["for", variable, words.map(writtenWord)]);
}

/** Whether both have the same content, in any order. */
export function isSame(first: Written, second: Written): boolean {
  const [one, other] = [first.toSorted(), second.toSorted()];
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
