import type { AgentDefinition } from "../core/agent-definition.ts";
import type { CapstanError } from "../core/errors.ts";
import { requireConsistent } from "./agent-checks.ts";
import { mergeParts, toolList } from "./agent-merge.ts";
import { type AgentPart, partOf } from "./agent-part.ts";
import { readSources } from "./agent-source.ts";
import { defined } from "./defined.ts";
import type { UnsetVariable } from "./file-references.ts";
import type { Environment } from "./home.ts";

/** An agent as one layer of the configuration: what it leaves out is decided by settings or defaults. */
export interface AgentAsWritten extends Omit<AgentPart, "name" | "tools" | "instructions_file"> {
  readonly name: AgentDefinition["name"];
  readonly tools?: AgentDefinition["tools"];
}

/** An agent file with all that it names: the files it extends, instructions, prompts, schemas, subagents and skills. */
export interface ReadAgent {
  readonly written: AgentAsWritten;
  /** The file itself and those it extends. */
  readonly files: readonly string[];
  /** Where the instructions are, when they are in a file of their own. */
  readonly instructionsFile: string | undefined;
  /** Variables that a process of the agent will need, and that are not set now. */
  readonly unset: readonly UnsetVariable[];
  /** An error about one of its fields, with the place of that. */
  error(path: readonly string[], text: string): CapstanError;
}

/** Starts no process and loads no module. `environment` is where `${NAME}` is looked up. */
export function readAgent(path: string, environment: Environment): ReadAgent {
  const sources = readSources(path, environment);
  const parts = sources.map((source) => partOf(source, environment));
  const merged = parts.reduceRight((below, above) => mergeParts(below, above));
  requireConsistent({ sources, parts, merged });
  const { name = "", tools, instructions_file: instructionsFile, ...rest } = merged;
  const [top] = sources;
  return {
    written: { ...defined(rest), name, ...(tools !== undefined && { tools: toolList(undefined, tools) }) },
    files: sources.map(({ file }) => file),
    instructionsFile,
    unset: sources.flatMap(({ unset }) => unset),
    error: (path, text) => {
      const source = sources.find(({ written }) => Object.hasOwn(written, path[0] ?? "")) ?? top;
      return source.error([{ path, at: "value", text }]);
    },
  };
}
