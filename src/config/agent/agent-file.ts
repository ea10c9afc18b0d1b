import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { CapstanError } from "../../core/errors.ts";
import { nearest } from "../../core/text/nearest.ts";
import { findingsIn } from "./agent-checks.ts";
import { agentFile as schema } from "./agent-file-schema.ts";
import { mergeParts, toolList } from "./agent-merge.ts";
import { type AgentPart, partOf } from "./agent-part.ts";
import { type AgentSource, inner, readSources } from "./agent-source.ts";
import type { UncheckedName } from "./agent-tool-checks.ts";
import { withoutUndefined } from "../settings/without-undefined.ts";
import type { UnsetVariable } from "./file-references.ts";
import type { Environment } from "../project/home.ts";
import type { Problem } from "../yaml/problems.ts";

/** An agent as one layer of the configuration: settings or defaults decide what it omits. */
export interface AgentAsWritten extends Omit<AgentPart, "name" | "tools" | "instructions_file"> {
  readonly name: AgentDefinition["name"];
  readonly tools?: AgentDefinition["tools"];
}

/** A problem that another check found with a field of an agent. */
export interface FieldProblem {
  readonly path: readonly string[];
  readonly text: string;
  /** Another field that it depends on. */
  readonly given?: string;
}

/**
 * An agent file with everything it names: the files it extends, instructions, prompts, schemas, subagents and skills.
 */
export interface ReadAgent {
  readonly written: AgentAsWritten;
  /** The file itself and those it extends. */
  readonly files: readonly string[];
  /** Where the instructions are, if they are in a separate file. */
  readonly instructionsFile: string | undefined;
  /** Whether the file itself, not one it extends, contains a suite. */
  readonly hasTests: boolean;
  /** Variables that a process of the agent needs, and that are not set. */
  readonly unset: readonly UnsetVariable[];
  /** Names of tools that only its functions can provide. */
  readonly unchecked: readonly UncheckedName[];
  /** An error about one of its fields, with its position. */
  error(path: readonly string[], text: string): CapstanError;
}

/** Starts no process and loads no module. `environment` resolves `${NAME}`. Throws all problems. */
export function readAgent(path: string, environment: Environment): ReadAgent {
  const { agent, requireRight } = examineAgent(path, environment);
  requireRight([]);
  return agent;
}

export interface ExaminedAgent {
  /** Without the parts that are wrong. */
  readonly agent: ReadAgent;
  /** Throws all its problems, together with those that others found. */
  readonly requireRight: (others: readonly FieldProblem[]) => void;
}

/** The same for callers with more checks. Throws only for a file that can't be read at all. */
export function examineAgent(path: string, environment: Environment): ExaminedAgent {
  const { sources, broken } = readSources(path, environment);
  const read = sources.map((source) => partOf(source, environment));
  const parts = read.map(({ part }) => part);
  const merged = parts.reduceRight((below, above) => mergeParts(below, above));
  const early = sources.map((source, index) => [...source.problems, ...(read[index]?.problems ?? [])]);
  const doubtful = doubtfulFields(early.flat(), broken !== undefined);
  const findings = findingsIn({ sources, parts, merged, doubtful });
  const { name = "nameless", tools, instructions_file: instructionsFile, ...rest } = merged;
  const [top] = sources;
  const ownerOf = (field: string | undefined): AgentSource =>
    sources.find(({ written }) => Object.hasOwn(written, field ?? "")) ?? top;
  return {
    agent: {
      written: { ...withoutUndefined(rest), name, ...(tools !== undefined && { tools: toolList(undefined, tools) }) },
      files: sources.map(({ file }) => file),
      instructionsFile,
      hasTests: top.written.tests !== undefined,
      unset: sources.flatMap(({ unset }) => unset),
      unchecked: findings.flatMap(({ unchecked }) => unchecked),
      error: (field, text) => ownerOf(field[0]).error([{ path: field, at: "value", text }]),
    },
    requireRight: (others) => {
      const sure = others.filter(({ path: [field = ""], given = field }) =>
        isKnown(doubtful, ["extends", field, given]),
      );
      const all = findings.map(({ source, problems }, index) => [
        source,
        [...(early[index] ?? []), ...problems, ...sure.flatMap(atOwner(source, ownerOf))],
      ]) satisfies [AgentSource, Problem[]][];
      requireNone(all, broken);
    },
  };
}

function isKnown(doubtful: ReadonlySet<string>, fields: readonly string[]): boolean {
  return fields.every((field) => !doubtful.has(field));
}

function atOwner(
  source: AgentSource,
  ownerOf: (field: string | undefined) => AgentSource,
): (found: FieldProblem) => Problem[] {
  return ({ path, text }) => (ownerOf(path[0]) === source ? [{ path, at: "value", text }] : []);
}

/** The fields with omitted parts, including those that a misspelled key probably meant. */
function doubtfulFields(problems: readonly Problem[], isBroken: boolean): ReadonlySet<string> {
  const known = Object.keys(schema.shape);
  const named = problems.map(({ path: [field = ""] }) => String(field));
  const meant = named.flatMap((field) => nearest(field, known) ?? []);
  return new Set([...named, ...meant, ...(isBroken ? ["extends"] : [])]);
}

/** Throws the problems of all files together. */
function requireNone(found: readonly (readonly [AgentSource, readonly Problem[]])[], broken?: CapstanError): void {
  const errors = found.flatMap(([source, problems]) => (problems.length === 0 ? [] : [source.error(problems)]));
  const [first, ...others] = broken === undefined ? errors : [...errors, broken];
  if (first === undefined) return;
  if (others.length === 0) throw first;
  const lines = [first, ...others].flatMap((error) => inner(error, []).map(({ text }) => text));
  throw new CapstanError(first.code, lines.join("\n"), { data: { file: found[0]?.[0].file, problems: lines } });
}
