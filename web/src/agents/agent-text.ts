import { isMap, isSeq, LineCounter, parseDocument, stringify } from "yaml";
import type { WireAgent } from "../../../src/client/index.ts";
import { agentFileOf, type Definition, definitionOf, withoutDefaults } from "./agent-file.ts";

/** Converts agents to YAML text and back. JSON is valid YAML. */

const LOOK = { lineWidth: 0, blockQuote: "literal" } as const;

function toYaml(value: unknown): string {
  return stringify(value, LOOK);
}

/** The text to edit: the definition alone. */
export function definitionText(definition: Definition): string {
  return toYaml(withoutDefaults(definition));
}

/** The text that versions are compared by. */
export function versionText({ name, description, metadata, definition }: WireAgent): string {
  const said = {
    ...(name !== definition.name && { "display name": name }),
    ...(description !== null && description !== definition.description && { about: description }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
  return `${Object.keys(said).length > 0 ? `${toYaml(said)}---\n` : ""}${definitionText(definition)}`;
}

export function fileText(definition: Definition, format: "yaml" | "json"): string {
  const { file, notes } = agentFileOf(definition);
  if (format === "json") return `${JSON.stringify(file, undefined, 2)}\n`;
  return [...notes.map((note) => `# ${note}\n`), toYaml(file)].join("");
}

export interface TextProblem {
  /** Line number from 1; undefined if it is not in the text. */
  readonly line?: number;
  readonly field?: string;
  readonly text: string;
}

export type ReadText =
  | { readonly definition: unknown; readonly problems?: undefined }
  | { readonly problems: readonly TextProblem[] };

export function readText(text: string): ReadText {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  if (document.errors.length > 0)
    return {
      problems: document.errors.map(({ message, pos: [start] }) => ({
        line: counter.linePos(start).line,
        text: `This is not valid YAML: ${message}`,
      })),
    };
  const value: unknown = document.toJS();
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problems: [{ line: 1, text: "Enter the fields of an agent, such as name: reviewer" }] };
  return { definition: definitionOf(value) };
}

/** A problem as the server reports it, `field: message`, with its line in the text. */
export function locateProblem(text: string, told: string): TextProblem {
  const [, path, said] = /^([\w$*-]+(?:\.[\w$*-]+)*): ([\s\S]+)$/.exec(told) ?? [];
  if (path === undefined || said === undefined) return { text: told };
  const field = path.replace(/^definition(?:\.|$)/, "");
  if (field === "") return atUnknownKey(text, [], { text: said });
  return atUnknownKey(text, field.split("."), { field, text: said });
}

/** The server reports an unknown key at its parent, with the key in quotes. */
function atUnknownKey(text: string, path: readonly string[], problem: TextProblem): TextProblem {
  const [, key] = /^Unrecognized keys?: "([^"]+)"/.exec(problem.text) ?? [];
  const line = lineOf(text, key === undefined ? path : [...path, key]);
  return { ...problem, ...(line !== undefined && { line }) };
}

/** The line of a field, or of its nearest ancestor in the text. */
function lineOf(text: string, path: readonly string[]): number | undefined {
  const counter = new LineCounter();
  let node: unknown = parseDocument(text, { lineCounter: counter }).contents;
  let offset: number | undefined;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(key) === step);
      if (pair === undefined) break;
      offset = (pair.key as { range?: [number] }).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(step)] as { range?: [number] } | undefined;
      if (item === undefined) break;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else break;
  }
  return offset === undefined ? undefined : counter.linePos(offset).line;
}
