import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { type AgentFile, agentFile } from "./agent-file-schema.ts";
import { type UnsetVariable, withVariables } from "./file-references.ts";
import type { Environment } from "../project/home.ts";
import { type Problem, problemsOf } from "../yaml/problems.ts";
import { readTextFile } from "../yaml/text-file.ts";
import { readYaml } from "../yaml/yaml-file.ts";

/** One agent file, checked on its own. */
export interface AgentSource {
  readonly file: string;
  /** Its content, without the parts that are wrong. */
  readonly written: AgentFile;
  readonly problems: readonly Problem[];
  /** Variables that a process needs, and that are not set. */
  readonly unset: readonly UnsetVariable[];
  /** Reports problems with their positions; those in a base start with the position that names it. */
  readonly error: (problems: readonly Problem[]) => CapstanError;
}

const CODE = "invalid_agent";
/** How deep files may extend each other. */
const MAX_BASES = 8;

export interface AgentSources {
  /** An agent file and the files that it extends, each after the one that names it. */
  readonly sources: readonly [AgentSource, ...AgentSource[]];
  /** Why the chain may be incomplete. */
  readonly broken?: CapstanError;
}

export function readSources(file: string, environment: Environment): AgentSources {
  const chain: [AgentSource, ...AgentSource[]] = [readSource(file, { what: "the agent file", environment })];
  for (let above = chain[0]; above.written.extends !== undefined; above = chain.at(-1) ?? above) {
    const base = resolve(dirname(above.file), above.written.extends);
    const wrong = (text: string): CapstanError => above.error([{ path: ["extends"], at: "value", text }]);
    const again = chain.findIndex((source) => realPath(source.file) === realPath(base));
    if (again >= 0) {
      const circle = [...chain.slice(again).map((source) => source.file), base].join(" → ");
      return { sources: chain, broken: wrong(`the files extend each other in a circle: ${circle}`) };
    }
    if (chain.length > MAX_BASES)
      return {
        sources: chain,
        broken: wrong(`expected at most ${MAX_BASES} files that extend each other (found more)`),
      };
    const lead = (line: string): string => linesOf(wrong(line)).join("\n");
    try {
      chain.push(readSource(base, { what: "the base", environment, lead }));
    } catch (error) {
      // A file that was read reports how it was found.
      return { sources: chain, broken: hasPositions(error) ? error : above.error(inner(error, ["extends"])) };
    }
  }
  return { sources: chain };
}

interface Reading {
  /** What it is to the user. */
  readonly what: string;
  readonly environment: Environment;
  /** How a reader got there. */
  readonly lead?: (line: string) => string;
}

/** Throws for a file that can't be read at all. */
export function readSource(file: string, { what, environment, lead }: Reading): AgentSource {
  const text = readTextFile(file, { what, code: CODE });
  const tree = readYaml(text, { file, code: CODE, lead });
  const { content, problems, unset } = withVariables(tree.value, environment);
  const parsed = agentFile.safeParse(content);
  const source = { file, unset, error: tree.error };
  if (parsed.success && problems.length === 0) return { ...source, written: parsed.data, problems };
  // Values are reported as written: a variable may contain a secret.
  const wrong = parsed.success ? [] : withKinds(problemsOf(parsed.error, { schema: agentFile, value: tree.value }));
  const told = new Set(problems.map(({ path }) => path.join(".")));
  const all = [...problems, ...wrong.filter(({ path }) => !told.has(path.join(".")))];
  return { ...source, written: rightPart(content, all), problems: all };
}

/** The content without the parts that are wrong, so that the rest can be checked too. */
function rightPart(content: unknown, problems: readonly Problem[]): AgentFile {
  const rest = problems.reduce((left, { path }) => without(left, path), content);
  const parsed = agentFile.safeParse(rest);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path }) => path.slice(0, 1));
  return agentFile.safeParse(fields.reduce(without, rest)).data ?? {};
}

/** Removes a list as a whole: otherwise its other items would have other positions. */
function without(content: unknown, [key, ...below]: readonly PropertyKey[]): unknown {
  if (key === undefined || typeof content !== "object" || content === null || Array.isArray(content)) return undefined;
  const rest = without(Reflect.get(content, key), below);
  const others = Object.entries(content).filter(([name]) => name !== String(key));
  return Object.fromEntries(rest === undefined ? others : [...others, [String(key), rest]]);
}

/** A server with a URL but no type would be treated as a program, which has no URL and needs a command. */
function withKinds(problems: readonly Problem[]): readonly Problem[] {
  const kindless = new Set(problems.filter(isAddress).map(ownerOf));
  return problems
    .filter((problem) => problem.path[2] !== "command" || !kindless.has(ownerOf(problem)))
    .map((problem) =>
      isAddress(problem) ? { ...problem, text: "expected type: http or type: sse next to it" } : problem,
    );
}

function isAddress({ path, at }: Problem): boolean {
  return at === "key" && path.length === 3 && path[0] === "mcp_servers" && path[2] === "url";
}

function ownerOf({ path }: Problem): string {
  return path.slice(0, -1).join(".");
}

/** The problems of a file, reported where another one names it. */
export function inner(error: unknown, path: readonly PropertyKey[]): Problem[] {
  if (!(error instanceof CapstanError)) throw error;
  return linesOf(error).map((text) => ({ path, at: "value", text }));
}

function linesOf({ data, message }: CapstanError): readonly string[] {
  return Array.isArray(data["problems"]) ? (data["problems"] as string[]) : [message];
}

function hasPositions(error: unknown): error is CapstanError {
  return error instanceof CapstanError && Array.isArray(error.data["problems"]);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
