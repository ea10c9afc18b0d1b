import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { CapstanError } from "../../core/errors.ts";
import { MAX_SKILL_BYTES } from "../../core/agent/skill-schema.ts";
import type { LayerEnvironment } from "../settings/environment.ts";
import { type AgentSource, inner, readSource } from "./agent-source.ts";
import type { AgentFile } from "./agent-file-schema.ts";
import type { Environment } from "../project/home.ts";
import { requireOpenFile } from "../variables/private-files.ts";
import type { Problem } from "../yaml/problems.ts";
import type { SettingsFile } from "../settings/settings-schema.ts";
import { readSkill } from "./skill-files.ts";
import { readTextFile, reasonOf } from "../yaml/text-file.ts";
import { parseYaml } from "../yaml/yaml-file.ts";

type Path = readonly PropertyKey[];

/** What one file says about an agent, with the content of the files that it names. */
export interface AgentPart extends Omit<
  Partial<AgentDefinition>,
  "tools" | "permissions" | "budget" | "instructions_mode"
> {
  readonly instructions_mode?: AgentDefinition["instructions_mode"];
  /** The file that the instructions were read from. */
  readonly instructions_file?: string | undefined;
  /** A complete list, or changes. */
  readonly tools?: AgentFile["tools"];
  readonly permissions?: SettingsFile["permissions"];
  readonly budget?: SettingsFile["budget"];
  readonly environment?: LayerEnvironment | undefined;
}

const CODE = "invalid_agent";
/** Replaces a text that could not be read, so that the rest can be checked. Never shown. */
const UNREAD = "(unread)";

interface ReadPart {
  readonly part: AgentPart;
  /** All problems of the files that it names, at the positions that name them. */
  readonly problems: readonly Problem[];
}

export function partOf(source: Pick<AgentSource, "file" | "written">, environment: Environment): ReadPart {
  const problems: Problem[] = [];
  const read = <Value>(path: Path, look: () => Value): Value | undefined => {
    try {
      return look();
    } catch (error) {
      problems.push(...inner(error, path));
      return undefined;
    }
  };
  const at = (path: string): string => resolve(dirname(source.file), path);
  const open = (path: string): string => {
    requireOpenFile(at(path), source.file, environment);
    return at(path);
  };
  const reading: Reading = { at, open, read, environment };
  const {
    $schema: _schema,
    extends: _base,
    tests: _tests,
    instructions,
    commands,
    output_schema: schema,
    subagents,
    functions,
    skills,
    mcp_servers: servers,
    ...plain
  } = source.written;
  const part: AgentPart = {
    ...plain,
    ...instructionsOf(instructions, reading),
    commands: commandsOf(commands, reading),
    output_schema: schemaOf(schema, reading),
    subagents: subagentsOf(subagents, reading),
    functions: functionsOf(functions, reading),
    skills: skillsOf(skills, reading),
    mcp_servers: serversOf(servers, reading),
  };
  return { part, problems };
}

interface Reading {
  /** The absolute path of a path in the file. */
  readonly at: (path: string) => string;
  /** The same for a file that is read into the agent. Throws for one with credentials. */
  readonly open: (path: string) => string;
  /** The value, or undefined if it is not available and the reason was recorded. */
  readonly read: <Value>(path: Path, look: () => Value) => Value | undefined;
  readonly environment: Environment;
}

function instructionsOf(
  written: AgentFile["instructions"],
  { at, open, read }: Reading,
): Pick<AgentPart, "instructions" | "instructions_mode" | "instructions_file"> {
  if (written === undefined) return {};
  const { text, file, mode } = typeof written === "string" ? { text: written } : written;
  const content =
    file === undefined ? text : read(["instructions", "file"], () => textOf(open(file), "the instructions in"));
  return {
    instructions: content ?? "",
    // If undefined, the extended file's mode applies to its own instructions.
    instructions_mode: mode,
    instructions_file: file && at(file),
  };
}

function commandsOf(written: AgentFile["commands"], { at, open, read }: Reading): AgentPart["commands"] {
  return mapValues(written, (name, { file, prompt, ...rest }) => {
    if (file === undefined) return { ...rest, prompt: prompt ?? "" };
    const text = read(["commands", name, "file"], () => {
      const content = textOf(open(file), "the prompt in");
      if (content.trim() === "") throw wrong(`${at(file)}:1:1 expected a prompt (found an empty file)`);
      return content;
    });
    return { ...rest, prompt: text ?? UNREAD };
  });
}

/** JSON is also YAML. */
function schemaOf(written: AgentFile["output_schema"], { at, open, read }: Reading): AgentPart["output_schema"] {
  if (typeof written !== "string") return written;
  const file = at(written);
  return read(["output_schema"], () => {
    const text = textOf(open(written), "the JSON Schema in");
    return parseYaml(text, { file, code: CODE, schema: z.record(z.string(), z.unknown()) });
  });
}

/** The fields that are used of a subagent's agent file, and those it may also have. */
const OF_SUBAGENT = ["description", "instructions", "tools", "model"];
const LABELS = ["$schema", "name"];

function subagentsOf(written: AgentFile["subagents"], reading: Reading): AgentPart["subagents"] {
  return mapValues(written, (name, subagent) => {
    if (typeof subagent !== "string") return subagent;
    const read = reading.read(["subagents", name], () => subagentIn(reading.open(subagent), reading.environment));
    return read ?? { description: UNREAD, instructions: UNREAD };
  });
}

function subagentIn(file: string, environment: Environment): AgentDefinition["subagents"][string] {
  const source = readSource(file, { what: "the subagent", environment });
  const { description, instructions, tools, model, ...others } = source.written;
  const { part, problems: ofFiles } = partOf({ file, written: { instructions } }, environment);
  const unused = Object.keys(others)
    .filter((key) => !LABELS.includes(key))
    .map((key): Problem => {
      const text = `not supported for a subagent; only ${OF_SUBAGENT.join(", ")} of its file are used`;
      return { path: [key], at: "key", text };
    });
  const problems = [...source.problems, ...ofFiles, ...unused];
  const missing = (key: string): void => {
    if (problems.some(({ path }) => path[0] === key)) return;
    problems.push({ path: [key], at: "key", text: "expected text (found nothing)" });
  };
  if (description === undefined) missing("description");
  if (!part.instructions?.trim()) missing("instructions");
  if (part.instructions_mode !== undefined)
    problems.push({ path: ["instructions", "mode"], at: "key", text: "not supported for a subagent" });
  if (tools !== undefined && !Array.isArray(tools))
    problems.push({ path: ["tools"], at: "value", text: "expected a list (found a mapping)" });
  if (problems.length > 0) throw source.error(problems);
  return {
    description: description ?? "",
    instructions: part.instructions ?? "",
    ...(Array.isArray(tools) && { tools }),
    ...(model !== undefined && { model }),
  };
}

function functionsOf(written: AgentFile["functions"], { at, read }: Reading): AgentPart["functions"] {
  return written?.map((entry, index) => {
    const isPath = typeof entry === "string";
    const { module, ...rest } = isPath ? { module: entry } : entry;
    const path = at(module);
    read(isPath ? ["functions", index] : ["functions", index, "module"], () => requireModule(path));
    return { ...rest, module: path };
  });
}

/** Not loaded here: running the agent does that. */
function requireModule(path: string): void {
  try {
    if (statSync(path).isFile()) return;
  } catch (error) {
    throw wrong(`Cannot read the module ${path}: ${reasonOf(error)}.`);
  }
  throw wrong(`Cannot read the module ${path}: it is not a file.`);
}

function skillsOf(written: AgentFile["skills"], { open, read }: Reading): AgentPart["skills"] {
  if (written === undefined) return undefined;
  const skills: NonNullable<AgentPart["skills"]> = {};
  let size = 0;
  for (const [index, directory] of written.entries())
    read(["skills", index], () => {
      const { name, files } = readSkill(open(directory));
      if (Object.hasOwn(skills, name)) throw wrong(`another skill of this agent is also named ${name}`);
      size += Object.values(files).reduce((sum, { content }) => sum + content.length, 0);
      if (size > MAX_SKILL_BYTES) throw wrong(`the skills up to this one have more than ${MAX_SKILL_BYTES} bytes`);
      skills[name] = { files };
    });
  return skills;
}

/** A program named by a path belongs to the agent; one named by a word is searched in PATH. */
function serversOf(written: AgentFile["mcp_servers"], { at }: Reading): AgentPart["mcp_servers"] {
  return mapValues(written, (_, server) =>
    "command" in server && /^\.{1,2}\//.test(server.command) ? { ...server, command: at(server.command) } : server,
  );
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>> | undefined,
  change: (key: string, value: Value) => Result,
): Record<string, Result> | undefined {
  return record && Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(key, value)]));
}

function textOf(file: string, what: string): string {
  return readTextFile(file, { what, code: CODE });
}

function wrong(text: string): CapstanError {
  return new CapstanError(CODE, text);
}
