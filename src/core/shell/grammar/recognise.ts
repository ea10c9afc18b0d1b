import { ShellCursor, GrammarRefusal } from "./cursor.ts";
import { KEYWORDS, UNSUPPORTED } from "./keywords.ts";
import { type PlainWord, readPlainWord } from "./plain-word.ts";
import { readRedirection, type PendingDocument } from "./redirection.ts";
import { writtenCommand, writtenLoop, type Written, type WrittenRedirection } from "./written-command.ts";

/**
 * The small part of bash that a rule can allow: simple commands, pipelines, lists, groups, `if`, `while`, `until` and
 * `for … in`. Reads the characters directly, without the parser, and refuses everything else.
 */
export function recognise(line: string): { readonly written: Written } | { readonly refused: string } {
  try {
    return { written: new Grammar(line).read() };
  } catch (error) {
    if (error instanceof GrammarRefusal) return { refused: error.message };
    throw error;
  }
}

const BLANK = /[ \t]+/y;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A word before the command that assigns in another way. */
const OTHER_ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:\+=|\[)/;

/** What `(` after a word starts. */
function afterParenthesis({ text, at }: ShellCursor, { source }: PlainWord): string {
  if (text.charAt(at + 1) === ")") return `the function \`${source}()\``;
  return source.endsWith("=") ? `the array \`${source}(…)\`` : "`(` after a word";
}

/** What to record once the texts of all here-documents are known. */
type Found = () => string;

class Grammar {
  readonly #cursor: ShellCursor;
  readonly #found: Found[] = [];
  /** The here-document whose text starts on the next line. */
  #document: PendingDocument | undefined;
  /** How many `$(` are open. */
  #inside = 0;
  /** A `$(` contained a here-document. */
  #hadDocument = false;

  constructor(line: string) {
    this.#cursor = new ShellCursor(line);
  }

  read(): Written {
    this.#space(true);
    // A line with only comments runs nothing.
    if (!this.#cursor.isAtEnd) this.#list([]);
    if (!this.#cursor.isAtEnd) this.#cursor.refuse(`\`${this.#cursor.peek()}\` here`);
    if (this.#document !== undefined) this.#cursor.refuse("a here-document without an end");
    return this.#found.map((write) => write());
  }

  /** Moves past blanks, continued lines and, where a command may start, line breaks and comments. */
  #space(lines: boolean): void {
    const cursor = this.#cursor;
    for (;;) {
      const start = cursor.at;
      cursor.takeMatch(BLANK);
      const before = cursor.text.charAt(start - 1);
      const hasBlank = cursor.at > start || /^$|\s/.test(before);
      if (cursor.startsWith("\\\n")) {
        if (!(hasBlank || before === "|") || this.#document !== undefined)
          cursor.refuse("a line that continues in a word");
        cursor.at += 2;
        if (/[#\n]/.test(cursor.peek())) cursor.refuse("this use of a backslash", cursor.at - 2);
      } else if (cursor.peek() === "#") {
        if (!hasBlank) cursor.refuse("`#` here");
        this.#comment();
      } else if (lines && cursor.peek() === "\n") this.#lineBreak();
      else return;
    }
  }

  #comment(): void {
    const cursor = this.#cursor;
    if (this.#inside > 0) cursor.refuse("a comment in `$(…)`");
    if (cursor.takeMatch(/[^\n]*/y).endsWith("\\")) cursor.refuse("a comment that ends with a backslash");
  }

  #lineBreak(): void {
    this.#cursor.at += 1;
    const document = this.#document;
    if (document === undefined) return;
    this.#document = undefined;
    document.readBody(this.#cursor);
    if (this.#inside > 0) this.#hadDocument = true;
  }

  /** Commands up to one of the keywords, which is left to the caller, or up to something that can't start a command. */
  #list(until: readonly string[]): void {
    const cursor = this.#cursor;
    for (;;) {
      this.#andOr();
      this.#space(false);
      const next = cursor.peek();
      if (next === ";" || next === "&") {
        if (/^(?:;[;&|]|&[&>])/.test(cursor.text.slice(cursor.at, cursor.at + 2))) cursor.refuse("`;;` or `;&`");
        cursor.at += 1;
      } else if (next !== "\n") return;
      this.#space(true);
      if (cursor.isAtEnd || cursor.peek() === ")" || until.includes(this.#keyword())) return;
    }
  }

  /** The bare word here, without moving past it. */
  #keyword(): string {
    const found = /[A-Za-z{}!]+|\[\[/y;
    found.lastIndex = this.#cursor.at;
    const text = found.exec(this.#cursor.text)?.[0] ?? "";
    const after = this.#cursor.text.charAt(this.#cursor.at + text.length);
    return KEYWORDS.has(text) && /^$|[\s;&|<>()]/.test(after) ? text : "";
  }

  #andOr(): void {
    do {
      this.#space(true);
      this.#pipeline();
      this.#space(false);
    } while (this.#cursor.take("&&") || this.#cursor.take("||"));
  }

  #pipeline(): void {
    const cursor = this.#cursor;
    const first = this.#keyword();
    if (first === "!" || first === "time") {
      this.#expectKeyword(first);
      if (cursor.takeMatch(BLANK) === "") cursor.refuse(`this use of \`${first}\``);
      if (first === "time") {
        cursor.takeMatch(/-p[ \t]+/y);
        if (!/[A-Za-z0-9_./'"({]/.test(cursor.peek())) cursor.refuse("this use of `time`");
      }
      if (["!", "time"].includes(this.#keyword())) cursor.refuse(`\`${this.#keyword()}\` after \`${first}\``);
    }
    for (;;) {
      this.#command();
      this.#space(false);
      if (cursor.startsWith("||") || !cursor.take("|")) return;
      cursor.take("&");
      this.#space(true);
      if (["!", "time"].includes(this.#keyword())) cursor.refuse(`\`${this.#keyword()}\` after \`|\``);
    }
  }

  #command(): void {
    const cursor = this.#cursor;
    if (cursor.startsWith("((")) cursor.refuse("arithmetic `((…))`");
    const keyword = this.#keyword();
    if (cursor.peek() === "(") cursor.within(() => this.#subshell());
    else if (keyword === "{") cursor.within(() => this.#group());
    else if (keyword === "if") cursor.within(() => this.#if());
    else if (keyword === "while" || keyword === "until") {
      cursor.within(() => {
        this.#body(keyword, "do");
        this.#body("do", "done");
        this.#expectKeyword("done");
      });
    } else if (keyword === "for") cursor.within(() => this.#for());
    else if (keyword !== "") cursor.refuse(UNSUPPORTED[keyword] ?? `\`${keyword}\` here`);
    else return this.#simpleCommand();
    const redirections = this.#redirections();
    if (redirections.length > 0) this.#found.push(() => writtenCommand([], [], redirections));
    this.#space(false);
    if (!/^$|[\n;&|)]/.test(cursor.peek())) cursor.refuse("a word after a group of commands");
  }

  #expectKeyword(keyword: string): void {
    if (this.#keyword() !== keyword) this.#cursor.refuse(`a missing \`${keyword}\``);
    this.#cursor.at += keyword.length;
  }

  #subshell(): void {
    this.#cursor.at += 1;
    this.#space(true);
    this.#list([]);
    this.#space(true);
    if (!this.#cursor.take(")")) this.#cursor.refuse("a missing `)`");
  }

  #group(): void {
    this.#body("{", "}");
    this.#expectKeyword("}");
  }

  /** A keyword, and commands up to one of the others. */
  #body(from: string, ...until: readonly string[]): void {
    this.#expectKeyword(from);
    this.#list(until);
  }

  #if(): void {
    this.#body("if", "then");
    this.#body("then", "elif", "else", "fi");
    while (this.#keyword() === "elif") {
      this.#body("elif", "then");
      this.#body("then", "elif", "else", "fi");
    }
    if (this.#keyword() === "else") this.#body("else", "fi");
    this.#expectKeyword("fi");
  }

  #for(): void {
    const cursor = this.#cursor;
    this.#expectKeyword("for");
    this.#space(false);
    if (cursor.peek() === "(") cursor.refuse("`for ((…))`");
    const variable = this.#word();
    if (!variable.isBare || !VARIABLE.test(variable.source)) cursor.refuse("`for` without a plain variable");
    this.#space(false);
    this.#expectKeyword("in");
    const words: PlainWord[] = [];
    for (this.#space(false); !/^$|[\n;&|<>()]/.test(cursor.peek()); this.#space(false)) words.push(this.#word());
    if (!cursor.take(";") && cursor.peek() !== "\n") cursor.refuse("`for` without `do`");
    this.#space(true);
    this.#found.push(() => writtenLoop(variable.source, words));
    this.#body("do", "done");
    this.#expectKeyword("done");
  }

  #simpleCommand(): void {
    const cursor = this.#cursor;
    const assignments: PlainWord[] = [];
    const words: PlainWord[] = [];
    const redirections: WrittenRedirection[] = [];
    for (;;) {
      const redirection = this.#redirection();
      if (redirection !== undefined) redirections.push(redirection);
      else if (/^$|[\n;&|)]/.test(cursor.peek())) break;
      else {
        const isFirst = words.length === 0;
        const start = cursor.at;
        const keyword = this.#keyword();
        const word = this.#word();
        if (cursor.peek() === "(") cursor.refuse(afterParenthesis(cursor, word), start);
        if (!isFirst) words.push(word);
        else if (keyword !== "") cursor.refuse(`\`${keyword}\` here`, start);
        else if (OTHER_ASSIGNMENT.test(word.source)) cursor.refuse("`+=` and arrays", start);
        else if (ASSIGNMENT.test(word.source)) assignments.push(word);
        else words.push(word);
      }
      this.#space(false);
    }
    if (assignments.length + words.length + redirections.length === 0) cursor.refuse("a missing command");
    this.#found.push(() => writtenCommand(assignments, words, redirections));
  }

  #redirections(): WrittenRedirection[] {
    const all: WrittenRedirection[] = [];
    for (;;) {
      this.#space(false);
      const redirection = this.#redirection();
      if (redirection === undefined) return all;
      all.push(redirection);
    }
  }

  #redirection(): WrittenRedirection | undefined {
    const found = readRedirection(this.#cursor, () => this.#word(), this.#document !== undefined);
    if (found?.document !== undefined) this.#document = found.document;
    return found?.redirection;
  }

  #word(): PlainWord {
    const cursor = this.#cursor;
    const start = cursor.at;
    const word = readPlainWord(cursor, () => this.#substitution());
    // Bash treats some words before < and > as a descriptor.
    if (/[<>]/.test(cursor.peek()) && (!word.isBare || /^[0-9]+$/.test(word.source)))
      cursor.refuse(`\`${cursor.peek()}\` directly after ${JSON.stringify(word.source)}`);
    if (this.#document !== undefined && word.source.includes("\n"))
      cursor.refuse("a word over several lines after `<<`", start);
    return word;
  }

  #substitution(): void {
    const cursor = this.#cursor;
    const start = cursor.at;
    const before = this.#found.length;
    if (this.#document !== undefined) cursor.refuse("`$(…)` after `<<`");
    this.#inside += 1;
    this.#space(true);
    this.#list([]);
    this.#space(true);
    if (this.#document !== undefined) cursor.refuse("a here-document without an end");
    // Bash prints a substitution again before it runs it, and loses the separators of commands around a here-document.
    if (this.#hadDocument && (this.#inside > 1 || this.#found.length > before + 1))
      cursor.refuse("a here-document in `$(…)` next to another command", start);
    this.#hadDocument = false;
    this.#inside -= 1;
  }
}
