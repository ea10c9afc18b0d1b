import type { Command } from "commander";
import { declareCommand } from "../declare-command.ts";

export function addGrantsCommand(program: Command): void {
  const grants = program
    .command("grants")
    .description("list and revoke remembered answers")
    .addHelpText("after", "\nExample:\n  $ capstan grants revoke 3f9a11c2");
  declareCommand(grants, "list", { server: "supported", isDefault: true })
    .description("list remembered answers, oldest first")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan grants list")
    .action(async (flags: { json?: boolean }) => (await import("./grants.ts")).listGrants(flags));
  declareCommand(grants, "show", { server: "supported" })
    .description("show a grant, and which past calls it would allow")
    .argument("<id>", "grant id, or its first or last characters")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan grants show 3f9a11c2")
    .action(async (id: string, flags: { json?: boolean }) => (await import("./grants.ts")).showGrant(id, flags));
  declareCommand(grants, "revoke", { server: "supported" })
    .description("revoke grants, so that agents ask again")
    .argument("<id...>", "grant ids, or their first or last characters")
    .addHelpText("after", "\nExample:\n  $ capstan grants revoke 3f9a11c2")
    .action(async (ids: string[]) => (await import("./grants.ts")).revokeGrants(ids));
}
