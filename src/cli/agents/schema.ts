import { writeFileSync } from "node:fs";
import { agentFileSchema, suiteFileSchema } from "../../config/agent/agent-schema.ts";
import { reasonOf } from "../../config/yaml/text-file.ts";
import { usage } from "../terminal/failure.ts";

const SCHEMAS = { agent: agentFileSchema, suite: suiteFileSchema } as const;

/** As it is published with the package, in schemas/. */
export function schemaText(kind: keyof typeof SCHEMAS = "agent"): string {
  return `${JSON.stringify(SCHEMAS[kind](), undefined, 2)}\n`;
}

export function schema(kind: keyof typeof SCHEMAS, { out }: { readonly out?: string }): void {
  const text = schemaText(kind);
  if (out === undefined) return void process.stdout.write(text);
  try {
    writeFileSync(out, text);
  } catch (error) {
    throw usage(`The schema cannot be written to ${out}: ${reasonOf(error)}.`);
  }
  process.stderr.write(`Name it in the first line of a file: # yaml-language-server: $schema=${out}\n`);
}
