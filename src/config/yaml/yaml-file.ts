import type { Document, LineCounter, YAMLError } from "yaml";
import type { z } from "zod";
import { CapstanError } from "../../core/errors.ts";
import { allOfYaml } from "./lazy-yaml.ts";
import { fieldName, type Problem, problemsOf } from "./problems.ts";
import { readPlainYaml } from "./plain-yaml.ts";
import type { FileErrorCode } from "./text-file.ts";
import { offsetOf, openQuoteBefore, type LocatedProblem, structureProblems } from "./yaml-tree.ts";

/** The origin of a text, for errors. */
interface YamlSource {
  /** Its name in errors. */
  readonly file: string;
  readonly code: FileErrorCode;
}

export interface YamlOptions<Schema extends z.ZodType> extends YamlSource {
  readonly schema: Schema;
  /** The value of a file without content (default: an error). */
  readonly empty?: z.input<Schema>;
}

/** A parsed YAML file with the positions of everything in it. */
export interface YamlTree {
  readonly value: unknown;
  /** Lists the problems in file order. */
  readonly error: (problems: readonly Problem[]) => CapstanError;
  /** The line of a value, from 1. */
  readonly lineOf: (path: readonly PropertyKey[]) => number;
}

/**
 * The checked content of a YAML file (1.2, core schema). An error lists every mistake as `file:line:column field: what
 * was expected (found …)`.
 */
export function parseYaml<Schema extends z.ZodType>(text: string, options: YamlOptions<Schema>): z.output<Schema> {
  const { schema, empty } = options;
  const tree = readYaml(text, { ...options, empty });
  const parsed = schema.safeParse(tree.value);
  if (parsed.success) return parsed.data;
  throw tree.error(problemsOf(parsed.error, { schema, value: tree.value }));
}

interface ReadSource extends YamlSource {
  readonly empty?: unknown;
  readonly lead?: Report["lead"];
}

/**
 * The unchecked content of a YAML file (1.2, core schema). The full parser is only used if something is wrong or
 * unusual: most files are read much faster.
 */
export function readYaml(text: string, source: ReadSource): YamlTree {
  const plain = readPlainYaml(text);
  if (plain === undefined) return readAllYaml(text, source);
  const { value, lines } = plain;
  return {
    value,
    error: (problems) => readAllYaml(text, source).error(problems),
    lineOf: (path) => {
      const list = path.slice(0, -1).reduce<unknown>((at, step) => (at as Record<PropertyKey, unknown>)[step], value);
      return lines.get(list as unknown[])?.[Number(path.at(-1))] ?? readAllYaml(text, source).lineOf(path);
    },
  };
}

/** The same with the full parser. */
export function readAllYaml(text: string, source: ReadSource): YamlTree {
  const yaml = allOfYaml();
  const lineCounter = new yaml.LineCounter();
  const document = yaml.parseDocument(text.replace(/^\uFEFF/, ""), {
    lineCounter,
    version: "1.2",
    schema: "core",
    // Binary, sets and dates are not supported.
    resolveKnownTags: false,
    stringKeys: true,
    // Takes quadratic time in the number of keys; structureProblems does it instead.
    uniqueKeys: false,
    prettyErrors: false,
  });
  const fail = (placed: readonly LocatedProblem[], total?: number): CapstanError =>
    invalid(placed, { ...source, lineCounter, total });

  const unreadable = [...document.errors, ...document.warnings].map((error) => syntaxProblem(error, document));
  const version = document.directives?.yaml.version;
  if (version !== "1.2") unreadable.push({ offset: 0, path: [], text: `expected YAML 1.2 (found ${version})` });
  if (unreadable.length > 0) throw fail(firstOfEachLine(unreadable, lineCounter));
  const misshapen = structureProblems(document);
  if (misshapen.length > 0) throw fail(misshapen);

  const value: unknown = document.toJS() ?? source.empty;
  if (value === undefined) throw fail([{ offset: 0, path: [], text: "expected a mapping (found an empty file)" }]);
  const locateProblem = ({ path, at, text: what }: Problem): LocatedProblem => ({
    offset: offsetOf(document, path, at),
    path,
    text: what,
  });
  return {
    value,
    error: (problems) => fail(problems.slice(0, MAX_TOLD).map(locateProblem), problems.length),
    lineOf: (path) => lineCounter.linePos(offsetOf(document, path, "value")).line,
  };
}

function syntaxProblem({ code, message, pos: [offset] }: YAMLError, document: Document.Parsed): LocatedProblem {
  switch (code) {
    case "TAB_AS_INDENT":
      return at(offset, "expected spaces as indentation (found a tab)");
    case "MULTIPLE_DOCS":
      return at(offset, "expected one document (found another one)");
    case "BLOCK_AS_IMPLICIT_KEY":
      return at(offset, `${lower(message)}; text that contains ": " must be quoted`);
    case "MULTILINE_IMPLICIT_KEY":
      return at(offset, 'expected a key followed by ": "');
    case "NON_STRING_KEY":
      return at(offset, "expected a word as key (found a list or a mapping)");
    case "MISSING_CHAR": {
      const quote = message.startsWith("Missing closing") ? openQuoteBefore(document, offset) : undefined;
      if (quote !== undefined) return at(quote, "expected a closing quote (found the end of the file)");
      if (message.startsWith("Implicit map keys")) return at(offset, 'expected a key followed by ": "');
      return at(offset, lower(message));
    }
    default:
      return at(offset, message.startsWith("Maximum call stack") ? "nested too deeply" : lower(message));
  }
}

/** Further mistakes on the same line are mostly consequences of the first. */
function firstOfEachLine(placed: readonly LocatedProblem[], lineCounter: LineCounter): readonly LocatedProblem[] {
  return [...Map.groupBy(placed, ({ offset }) => lineCounter.linePos(offset).line).values()].flatMap((group) =>
    group.toSorted((a, b) => a.offset - b.offset).slice(0, 1),
  );
}

function at(offset: number, text: string): LocatedProblem {
  return { offset, path: [], text };
}

function lower(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}

interface Report extends YamlSource {
  readonly lineCounter: LineCounter;
  readonly total?: number | undefined;
  /** How a reader got there, if another file led to this one. */
  readonly lead?: ((line: string) => string) | undefined;
}

/** How many are listed. */
const MAX_TOLD = 20;

function invalid(placed: readonly LocatedProblem[], report: Report): CapstanError {
  const { file, code, total = placed.length, lineCounter, lead = (line: string) => line } = report;
  const problems = placed
    .toSorted((a, b) => a.offset - b.offset)
    .slice(0, MAX_TOLD)
    .map(({ offset, path, text }) => {
      const { line, col } = lineCounter.linePos(offset);
      const field = path.length === 0 ? "" : `${fieldName(path)}: `;
      return lead(`${file}:${Math.max(line, 1)}:${Math.max(col, 1)} ${field}${text}`);
    });
  const more = total > problems.length ? [`and ${total - problems.length} more`] : [];
  return new CapstanError(code, [...problems, ...more].join("\n"), { data: { file, problems } });
}
