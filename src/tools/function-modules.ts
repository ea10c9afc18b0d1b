import { pathToFileURL } from "node:url";
import type { AgentDefinition } from "../core/agent/agent-definition.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { StandardSchema } from "../core/agent/standard-schema.ts";
import type { Tool } from "../core/ports/tool.ts";
import { defineTool, type ToolDefinition } from "./define-tool.ts";
import { compileJsonSchema } from "./json-schema.ts";

type FunctionModule = NonNullable<AgentDefinition["functions"]>[number];

/** What an export may be: the result of `defineTool`, or its argument, optionally with a JSON Schema as the input. */
type Exported = Partial<Tool> & Partial<Omit<ToolDefinition<StandardSchema, unknown>, "input">> & { input?: unknown };

/**
 * The tools of an agent's function modules, which become part of this process. Throws `invalid_agent`, naming the
 * module and the export.
 */
export async function loadFunctions(modules: readonly FunctionModule[]): Promise<readonly Tool[]> {
  const tools = new Map<string, { readonly tool: Tool; readonly from: string }>();
  for (const module of modules)
    for (const [name, value] of await exportsOf(module)) {
      const from = `${module.module}, export ${name}`;
      const tool = toolOf(name, value, from);
      const other = tools.get(tool.name)?.from;
      if (other !== undefined) throw wrong(`two functions are named ${tool.name}: ${other}, and ${from}. Rename one`);
      tools.set(tool.name, { tool, from });
    }
  return [...tools.values()].map(({ tool }) => tool);
}

async function exportsOf({ module, exports: wanted }: FunctionModule): Promise<readonly [string, Exported][]> {
  const found = await load(module);
  const usable = Object.entries(found).filter((entry): entry is [string, Exported] => isFunction(entry[1]));
  if (wanted === undefined) {
    if (usable.length > 0) return usable;
    throw wrong(`${module} exports no tool. ${WHAT_IS_ONE}`);
  }
  return wanted.map((name) => {
    const entry = usable.find(([known]) => known === name);
    if (entry !== undefined) return entry;
    const what = Object.hasOwn(found, name) ? `is not a tool. ${WHAT_IS_ONE}` : `does not exist. ${namesIn(found)}`;
    throw wrong(`${module}, export ${name} ${what}`);
  });
}

const WHAT_IS_ONE = "A tool is an object with description, input and handler, or the result of defineTool";

function namesIn(found: object): string {
  const names = Object.keys(found);
  return names.length === 0 ? "The module exports nothing" : `The module exports ${names.join(", ")}`;
}

async function load(module: string): Promise<object> {
  try {
    return (await import(pathToFileURL(module).href)) as object;
  } catch (thrown) {
    throw wrong(`${module} cannot be loaded: ${messageOf(thrown)}. Run it with node to see more`, thrown);
  }
}

/** Other exports, such as helpers and constants, are ignored. */
function isFunction(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { description, handler, run, inputSchema } = value as Exported;
  return typeof description === "string" && (typeof handler === "function" || (!!inputSchema && isRunnable(run)));
}

function isRunnable(run: unknown): boolean {
  return typeof run === "function";
}

function toolOf(exported: string, value: Exported, from: string): Tool {
  // A default export has only its own name.
  const name = exported === "default" ? value.name : exported;
  if (name === undefined) throw wrong(`${from} needs a name, or an export with one`);
  if (value.name !== undefined && value.name !== name)
    throw wrong(`${from} is a tool with the name ${value.name}. Use the same name for the tool and the export`);
  if (isRunnable(value.run)) return value as Tool;
  try {
    const definition = { ...value, name, input: schemaOf(value.input) } as ToolDefinition<StandardSchema, unknown>;
    return defineTool(definition);
  } catch (thrown) {
    throw wrong(`${from} is not usable: ${messageOf(thrown).replace(/\.$/, "")}`, thrown);
  }
}

/** A module next to an agent's file may have no schema library: a JSON Schema works too. */
function schemaOf(input: unknown): unknown {
  if (typeof input !== "object" || input === null || "~standard" in input) return input ?? {};
  const schema = input as Record<string, unknown>;
  const problemsOf = compileJsonSchema(schema);
  const standard: StandardSchema["~standard"] = {
    version: 1,
    vendor: "json-schema",
    validate(value) {
      const problems = problemsOf(value);
      if (problems.length === 0) return { value };
      return { issues: problems.map(({ path, message }) => ({ message, path: path.split("/").slice(1) })) };
    },
    jsonSchema: { input: () => schema },
  };
  return { "~standard": standard };
}

function wrong(message: string, cause?: unknown): CapstanError {
  return new CapstanError("invalid_agent", `functions: ${message}.`, { cause });
}
