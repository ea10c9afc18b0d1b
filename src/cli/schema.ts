import { writeFileSync } from "node:fs";
import { agentFileSchema } from "../config/agent-schema.ts";
import { reasonOf } from "../config/text-file.ts";
import { usage } from "./failure.ts";

/** As it is published with the package, in schemas/agent.schema.json. */
export function schemaText(): string {
  return `${JSON.stringify(agentFileSchema(), undefined, 2)}\n`;
}

export function schema({ out }: { readonly out?: string }): void {
  const text = schemaText();
  if (out === undefined) return void process.stdout.write(text);
  try {
    writeFileSync(out, text);
  } catch (error) {
    throw usage(`The schema cannot be written to ${out}: ${reasonOf(error)}.`);
  }
  process.stderr.write(`Name it in the first line of an agent file: # yaml-language-server: $schema=${out}\n`);
}
