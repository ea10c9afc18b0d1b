import type { Command } from "commander";

export function addSchema(program: Command): void {
  program
    .command("schema")
    .description("print the JSON Schema of agent files, for editors")
    .option("--out <file>", "write it to a file")
    .addHelpText("after", "\nExample:\n  $ capstan schema --out agent.schema.json")
    .action(async (flags: { out?: string }) => (await import("../schema.ts")).schema(flags));
}
