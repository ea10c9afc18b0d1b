import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { engineToolName } from "../../core/agent/mcp-server-schema.ts";

/** The model API's limits: longer names, and field names with other characters, make it refuse the whole request. */
const LONGEST_NAME = 128;
const FIELD_NAME = /^[\w.-]{1,64}$/;
const COMBINATIONS = ["anyOf", "oneOf", "allOf"];

/** A tool that can't be offered to the model, and why. */
export interface UnfitTool {
  readonly name: string;
  readonly problem: string;
}

/** Finds the tools for which the model API would refuse every request, or that the engine would omit silently. */
export function fittingTools(
  server: string,
  tools: readonly Tool[],
): { readonly fit: readonly Tool[]; readonly unfit: readonly UnfitTool[] } {
  const ajv = new Ajv2020({ strict: false, logger: false });
  const named = new Map<string, string>();
  const fit: Tool[] = [];
  const unfit: UnfitTool[] = [];
  for (const tool of tools) {
    const engineName = engineToolName(server, tool.name);
    const same = named.get(engineName);
    const problem =
      same === undefined
        ? (problemWithName(engineName) ?? problemWithSchema(tool.inputSchema, ajv))
        : `it has the same name as ${same} for the model: ${engineName}`;
    if (problem !== undefined) unfit.push({ name: tool.name, problem });
    else fit.push(tool);
    named.set(engineName, tool.name);
  }
  return { fit, unfit };
}

function problemWithName(engineName: string): string | undefined {
  return engineName.length > LONGEST_NAME
    ? `its name for the model has ${engineName.length} characters; the limit is ${LONGEST_NAME}`
    : undefined;
}

/** `$schema` does not matter: the API reads every schema as draft 2020-12. */
function problemWithSchema({ $schema: _dialect, ...schema }: Tool["inputSchema"], ajv: Ajv2020): string | undefined {
  const combination = COMBINATIONS.find((key) => schema[key] !== undefined);
  if (combination !== undefined)
    return `its input schema has ${combination} at the top level, which the model API refuses`;
  const field = Object.keys(schema.properties ?? {}).find((name) => !FIELD_NAME.test(name));
  if (field !== undefined) return `the model API refuses the field name ${JSON.stringify(field.slice(0, 80))}`;
  if (ajv.validateSchema(schema) === true) return undefined;
  const [first] = ajv.errors ?? [];
  return `its input schema is not valid as draft 2020-12: ${first?.instancePath ?? ""} ${first?.message ?? ""}`;
}
