import type { Command } from "commander";
import { declareCommand } from "../target/declare-command.ts";

export function addGrants(program: Command): void {
  const grants = program
    .command("grants")
    .description("see and revoke remembered answers")
    .addHelpText("after", "\nExample:\n  $ capstan grants revoke 3f9a11c2");
  declareCommand(grants, "list", { server: "supported", isDefault: true })
    .description("list remembered answers, oldest first")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan grants list")
    .action(async (flags: { json?: boolean }) => (await import("./grants.ts")).list(flags));
  declareCommand(grants, "show", { server: "supported" })
    .description("show what a grant would allow of the calls made so far")
    .argument("<id>", "the id, or its beginning or end")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan grants show 3f9a11c2")
    .action(async (id: string, flags: { json?: boolean }) => (await import("./grants.ts")).show(id, flags));
  declareCommand(grants, "revoke", { server: "supported" })
    .description("ask again from now on")
    .argument("<id...>", "ids, or their beginnings or ends")
    .addHelpText("after", "\nExample:\n  $ capstan grants revoke 3f9a11c2")
    .action(async (ids: string[]) => (await import("./grants.ts")).revoke(ids));
}
