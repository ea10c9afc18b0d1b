import { inputsIn } from "../../core/agent/agent-inputs.ts";
import { nearest } from "../../core/text/nearest.ts";
import type { AgentPart } from "./agent-part.ts";
import type { AgentSource } from "./agent-source.ts";
import { toolFindings, type UncheckedName } from "./agent-tool-checks.ts";
import type { Problem } from "../yaml/problems.ts";

/** An agent with all its files, for checks that need them together. Topmost file first. */
export interface WholeAgent {
  readonly sources: readonly AgentSource[];
  readonly parts: readonly AgentPart[];
  readonly merged: AgentPart;
  /** Fields that could not be read completely: something missing there may be what was wrong. */
  readonly doubtful: ReadonlySet<string>;
}

interface Findings {
  readonly source: AgentSource;
  readonly problems: readonly Problem[];
  readonly unchecked: readonly UncheckedName[];
}

/** Problems with names that must match: inputs and instructions, tools and rules. One entry per file. */
export function findingsIn(whole: WholeAgent): readonly Findings[] {
  const { sources, parts, merged, doubtful } = whole;
  const areKnown = (...fields: string[]): boolean => [...fields, "extends"].every((field) => !doubtful.has(field));
  const shown = parts.findIndex(({ instructions }) => instructions !== undefined);
  return sources.map((source, index) => {
    const part = parts[index] ?? {};
    const { problems, unchecked } = toolFindings(part, source, whole);
    const isNameless = index === 0 && merged.name === undefined && areKnown("name");
    return {
      source,
      problems: [
        ...(isNameless ? [NAMELESS] : []),
        ...(shown === index && areKnown("inputs") ? unknownInputs(part, source, merged) : []),
        ...(areKnown("instructions") ? unusedInputs(part, merged) : []),
        ...problems,
      ],
      unchecked,
    };
  });
}

const NAMELESS: Problem = { path: ["name"], at: "value", text: "expected text (found nothing)" };

function unknownInputs(part: AgentPart, { written }: AgentSource, { inputs = {} }: AgentPart): Problem[] {
  const { instructions = "", instructions_file: file } = part;
  const known = Object.keys(inputs);
  const path = typeof written.instructions === "string" ? ["instructions"] : ["instructions", file ? "file" : "text"];
  return inputsIn(instructions)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const place = file === undefined ? "" : `${positionOf(instructions, name, file)} `;
      const meant = nearest(name, known);
      const remedy = meant === undefined ? `declare ${name} under inputs` : `did you mean {{${meant}}}?`;
      return { path, at: "value", text: `${place}unknown input {{${name}}}; ${remedy}` };
    });
}

function positionOf(text: string, name: string, file: string): string {
  const before = text.slice(0, text.search(new RegExp(String.raw`\{\{\s*${name}\s*\}\}`))).split("\n");
  return `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

function unusedInputs({ inputs = {} }: AgentPart, { instructions = "", inputs: kept = {} }: AgentPart): Problem[] {
  const used = inputsIn(instructions);
  return Object.keys(inputs)
    .filter((name) => Object.hasOwn(kept, name) && !used.includes(name))
    .map((name) => {
      const text = `nothing uses this input; write {{${name}}} in the instructions, or remove it`;
      return { path: ["inputs", name], at: "key", text };
    });
}
