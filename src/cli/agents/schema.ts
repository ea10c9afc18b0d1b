import { writeFileSync } from "node:fs";
import { agentFileSchema, suiteFileSchema } from "../../config/agent/agent-schema.ts";
import { reasonOf } from "../../config/yaml/text-file.ts";
import { usageError } from "../terminal/failure.ts";

const SCHEMAS = { agent: agentFileSchema, suite: suiteFileSchema } as const;

/** The text of the file in schemas/. */
export function schemaText(kind: keyof typeof SCHEMAS = "agent"): string {
  return `${JSON.stringify(SCHEMAS[kind](), undefined, 2)}\n`;
}

export function schema(kind: keyof typeof SCHEMAS, { out }: { readonly out?: string }): void {
  const text = schemaText(kind);
  if (out === undefined) return void process.stdout.write(text);
  try {
    writeFileSync(out, text);
  } catch (error) {
    throw usageError(`Cannot write the schema to ${out}: ${reasonOf(error)}.`);
  }
  process.stderr.write(`To use it, start a file with: # yaml-language-server: $schema=${out}\n`);
}
