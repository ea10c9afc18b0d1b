import {
  BUILTINS,
  ODD_PIECES,
  ODD_REDIRECTIONS,
  ODD_STATEMENTS,
  PIECES,
  REDIRECTIONS,
  STATEMENTS,
  type Table,
} from "./constructs.ts";
import { Random } from "./random.ts";

/**
 * Random lines of bash. Some are plain, some are full of what parsers get wrong, and many are damaged by a few
 * characters. `evil` is the program that no rule allows.
 */
export interface Generated {
  readonly line: string;
  readonly constructs: readonly string[];
}

/** How odd a line is: the share of words and commands that are not plain. */
const ODDNESS = [0, 0.03, 0.15, 0.5] as const;
const DAMAGE = "'\"\\$`(){}[]<>|&;#!~^*?=-:@%+, \n\t\r0a\u00e9\u00a0\u0001";
const SNIPPETS = [
  "$(evil)",
  "`evil`",
  "'$(evil)'",
  "$'",
  '$"',
  "${x:-",
  "<(",
  "#x",
  "\\\n",
  "; evil",
  "\nevil\n",
  "|evil",
  "&evil",
  "<<E",
  "{x}<",
  "((",
  "[[ ",
  "()",
  "{ ",
  " }",
  "!",
  "2>&1",
  "E\n",
] as const;

export function generate(seed: number): Generated {
  const random = new Random(seed);
  const writer = new Writer(random, random.pick(ODDNESS));
  let line = writer.finish(writer.list());
  if (random.chance(0.4)) {
    writer.constructs.add("damage");
    for (let left = 1 + random.below(3); left > 0; left--) line = damageLine(line, random);
  }
  return { line, constructs: [...writer.constructs] };
}

function damageLine(line: string, random: Random): string {
  const at = random.below(line.length + 1);
  if (random.chance(0.3)) return line.slice(0, at) + line.slice(at + 1);
  const piece = random.chance(0.25) ? random.pick(SNIPPETS) : DAMAGE.charAt(random.below(DAMAGE.length));
  return line.slice(0, at) + piece + line.slice(at);
}

const PROGRAMS = ["a", "b", "ls", "cat", "echo"] as const;
const WORDS = [
  "x",
  "f",
  "-l",
  "a.ts",
  "x=y",
  "--opt=1",
  "./d/e",
  "HEAD~1",
  "a#b",
  "%h",
  "{}",
  "+",
  "1,2",
  "@x",
] as const;
const NAMES = ["x", "y", "z"] as const;

export class Writer {
  readonly constructs = new Set<string>();
  readonly random: Random;
  readonly oddness: number;
  /** Bodies of here-documents that begin on the next line. */
  #bodies: string[] = [];
  #depth = 0;

  constructor(random: Random, oddness: number) {
    this.random = random;
    this.oddness = oddness;
  }

  finish(text: string): string {
    return text + this.flush();
  }

  /** The bodies that are due at a line break. */
  flush(): string {
    const bodies = this.#bodies.map((body) => `\n${body}`).join("");
    this.#bodies = [];
    return bodies;
  }

  body(text: string): void {
    this.#bodies.push(text);
  }

  deeper(make: () => string, otherwise: string): string {
    if (this.#depth > 4) return otherwise;
    this.#depth += 1;
    const made = make();
    this.#depth -= 1;
    return made;
  }

  from(table: Table): string {
    const [name, make] = this.random.pick(table);
    this.constructs.add(name);
    return make(this);
  }

  list(): string {
    let text = this.statement();
    for (let more = this.random.below(3); more > 0; more--) {
      const joint = this.random.pick(this.random.chance(this.oddness) ? ODD_JOINTS : JOINTS);
      this.constructs.add(`joint ${JSON.stringify(joint)}`);
      const isBreak = joint.includes("\n");
      text += isBreak ? joint.replace("\n", () => `${this.flush()}\n`) + this.statement() : joint + this.statement();
    }
    return text;
  }

  /** Commands for a place from which a program may not run by accident. */
  writeHidden(): string {
    return this.deeper(() => (this.random.chance(0.6) ? "evil" : this.list() + this.flush()), "evil");
  }

  statement(): string {
    return this.deeper(() => {
      if (this.random.chance(this.oddness * 0.5)) return this.from(ODD_STATEMENTS);
      return this.random.chance(0.2) ? this.from(STATEMENTS) : this.simple();
    }, "a");
  }

  simple(): string {
    if (this.random.chance(this.oddness * 0.6)) return this.from(BUILTINS);
    const parts: string[] = [];
    if (this.random.chance(0.12)) parts.push(`${this.name()}=${this.word()}`);
    parts.push(this.random.pick(PROGRAMS));
    for (let left = this.random.below(4); left > 0; left--) parts.push(this.word());
    if (this.random.chance(0.25)) parts.splice(this.random.below(parts.length + 1), 0, this.redirection());
    return parts.join(" ");
  }

  name(): string {
    return this.random.pick(NAMES);
  }

  word(): string {
    let text = "";
    for (let left = this.random.pick([1, 1, 1, 2, 3]); left > 0; left--) text += this.piece();
    return text;
  }

  piece(): string {
    if (this.random.chance(this.oddness)) return this.from(ODD_PIECES);
    return this.random.chance(0.5) ? this.random.pick(WORDS) : this.from(PIECES);
  }

  redirection(): string {
    return this.from(this.random.chance(this.oddness) ? ODD_REDIRECTIONS : REDIRECTIONS);
  }

  single(text: string): string {
    return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  }
}

const JOINTS = [
  "; ",
  " && ",
  " || ",
  " | ",
  " & ",
  "\n",
  ";\n",
  " &&\n",
  " | \\\n ",
  " # c\n",
  "\n# c\n",
  ";",
  "|",
] as const;
const ODD_JOINTS = [
  " |& ",
  ";#c\n",
  "&&#c\n",
  "\\\n",
  " \\\n",
  ";\\\n",
  " ;; ",
  "&\\\n",
  "|\\\n",
  " #c\\\n",
  "\r\n",
  "\n\\\n",
  "&",
] as const;
