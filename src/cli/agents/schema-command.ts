import { Argument, type Command } from "commander";
import { declareCommand } from "../declare-command.ts";

export function addSchemaCommand(program: Command): void {
  declareCommand(program, "schema", { server: "ignored" })
    .description("print the JSON Schema of agent files or suites, for editors")
    .addArgument(new Argument("[kind]", "file type").choices(["agent", "suite"]).default("agent"))
    .option("--out <file>", "write to a file instead of standard output")
    .addHelpText(
      "after",
      "\nExamples:\n  $ capstan schema --out agent.schema.json\n  $ capstan schema suite --out suite.schema.json",
    )
    .action(async (kind: "agent" | "suite", flags: { out?: string }) =>
      (await import("./schema.ts")).schema(kind, flags),
    );
}
