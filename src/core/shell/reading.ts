import type { ParsedScript, Word } from "unbash";
import type { Does } from "./effects/table.ts";
import type { Written } from "./grammar/written-command.ts";

export interface ShellWord {
  readonly text: string;
  readonly dynamic: boolean;
}

/** One program a command line may run. */
export interface ShellCommand {
  /**
   * Words after expansion of quotes; a word that is only known when it runs (a variable, a substitution, a glob, a
   * brace or tilde expansion) has `dynamic: true` and `text` as written. The first is the program.
   */
  readonly words: readonly ShellWord[];
  /**
   * Names of the assignments before it, such as `PATH` in `PATH=/x ls`. Assignments that change what runs are also
   * unclear.
   */
  readonly assignments: readonly string[];
  /** How it is reached if not directly, outermost first: `sudo`, `bash -c`, `$(…)`, `function f`, … */
  readonly via: readonly string[];
  /** What its options do beyond the program's purpose. */
  readonly effects: readonly ShellEffect[];
}

/** An option that writes, deletes or runs something. A rule covers it only by naming it. */
export interface ShellEffect {
  /** The index of its word in the command. */
  readonly word: number;
  /** Its usual name, such as `--output`. */
  readonly option: string;
  /** The start of the word that contains it, such as `--out`, or the whole word. */
  readonly written: string;
  readonly does: Does;
  /** The word is only known when it runs, and may be the option. */
  readonly doubtful?: boolean;
}

export interface ShellWrite {
  readonly path: ShellWord;
  /** The redirection that writes: `>`, `>>`, `&>`, … */
  readonly how: string;
}

export interface ShellReading {
  readonly commands: readonly ShellCommand[];
  /** Files that redirections write; not /dev/null, /dev/stdout, /dev/stderr, /dev/tty, nor copies such as `2>&1`. */
  readonly writes: readonly ShellWrite[];
  /** Files that redirections read. */
  readonly reads: readonly ShellWord[];
  /** Every value that the line assigns to a variable, including loops; undefined if one of them is unknown. */
  readonly variables: ReadonlyMap<string, readonly ShellWord[] | undefined>;
  /** Why the line could not be fully parsed, one sentence each. With any entry, a person must be asked. */
  readonly unclear: readonly string[];
}

/** A word with details for the reader itself. */
export interface ReadWord extends ShellWord {
  /** It may become no word, or several: an unquoted variable or substitution, a glob, braces, `"$@"`. */
  readonly splits: boolean;
  /** The known start of a dynamic word; the whole text of one that is not dynamic. */
  readonly prefix: string;
  /** As written, including quotes. */
  readonly source: string;
}

/** A command's standard input, as far as its own redirections say. */
export type StandardInput =
  | { readonly kind: "unknown" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "none" };

/** The reader's context, with functions to continue. Passed along to avoid import cycles. */
export interface At {
  readonly notes: Notes;
  readonly via: readonly string[];
  readonly depth: number;
  /** Collects the effects of the current command. */
  readonly effects: ShellEffect[];
  /** What the parser has found in this text, to compare with the grammar. */
  readonly written: Written;
  script(script: ParsedScript | undefined, at: At): void;
  /** Reads text that a shell will run, such as the argument of `bash -c`. */
  text(source: string, at: At): void;
  word(word: Word, at: At): ReadWord;
  /** Lists a command and what it runs. */
  run(words: readonly ReadWord[], assignments: readonly string[], at: At, input: StandardInput): void;
}

/** The findings so far. */
export class Notes {
  readonly commands: ShellCommand[] = [];
  readonly writes: ShellWrite[] = [];
  readonly reads: ShellWord[] = [];
  readonly variables = new Map<string, readonly ShellWord[] | undefined>();
  readonly unclear = new Set<string>();

  /** Records a variable's value, or that it is unknown. */
  assign(name: string, value: ShellWord | undefined): void {
    const known = this.variables.has(name) ? this.variables.get(name) : [];
    this.variables.set(name, value === undefined || known === undefined ? undefined : [...known, value]);
  }
}

const MAX_DEPTH = 24;

/** One level deeper; undefined, and noted as unclear, if that is too deep. */
export function deeper(at: At, how?: string): At | undefined {
  if (at.depth >= MAX_DEPTH) {
    at.notes.unclear.add("It is nested too deeply to be parsed.");
    return undefined;
  }
  return { ...at, depth: at.depth + 1, via: how === undefined ? at.via : [...at.via, how] };
}

/** Reads `$(…)` or `<(…)`. */
export function readSubstitution(script: ParsedScript | undefined, how: string, at: At): void {
  const inside = deeper(at, how);
  if (inside !== undefined) at.script(script, inside);
}

/** The word as shown to others. */
export function plainWord({ text, dynamic }: ReadWord): ShellWord {
  return { text, dynamic };
}

/** A word that is known to be exactly this text. */
export function literal(text: string): ReadWord {
  return { text, dynamic: false, splits: false, prefix: text, source: text };
}

/** Words that exist only when the command runs, such as what xargs reads. */
export function unknownWords(source: string): ReadWord {
  return { text: source, dynamic: true, splits: true, prefix: "", source };
}

const QUOTED_LENGTH = 60;

/** A piece of the line for a message. */
export function quoteExcerpt(text: string): string {
  const short = text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH)}…` : text;
  return JSON.stringify(short);
}
