import type { Command } from "commander";
import { declareCommand } from "../declare-command.ts";

export function addModelsCommand(program: Command): void {
  declareCommand(program, "models", { server: "supported" })
    .description("list the models that your credential can use")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan models")
    .action(async (flags: { json?: boolean }) => (await import("./models.ts")).models(flags));
}
