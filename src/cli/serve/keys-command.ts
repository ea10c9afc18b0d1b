import { type Command, Option } from "commander";
import type { CreateFlags, ListFlags } from "./keys.ts";
import { declareCommand } from "../target/declare-command.ts";

const ROLES = ["viewer", "operator", "admin"];

export function addKeys(program: Command): void {
  const keys = program
    .command("keys")
    .description("make, list and revoke keys for the server")
    .addHelpText("after", "\nExample:\n  $ capstan keys create --name ci");
  declareCommand(keys, "create", { server: "refused" })
    .description("make a key for a project; it is shown once")
    .option("-n, --name <name>", "what the key is for; your user name without it")
    .addOption(new Option("--role <role>", "what it may do").choices(ROLES).default("operator"))
    .option("-p, --project <dir>", "of this project; else of the one you are in")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan keys create --name ci --role viewer")
    .action(async (flags: CreateFlags) => (await import("./keys.ts")).create(flags));
  declareCommand(keys, "list", { server: "refused", isDefault: true })
    .description("list keys, oldest first")
    .option("-p, --project <dir>", "only of this project")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan keys list")
    .action(async (flags: ListFlags) => (await import("./keys.ts")).list(flags));
  declareCommand(keys, "revoke", { server: "refused" })
    .description("refuse a key from now on")
    .argument("<id...>", "ids, or their beginnings or ends")
    .addHelpText("after", "\nExample:\n  $ capstan keys revoke 3f9a11c2")
    .action(async (ids: string[]) => (await import("./keys.ts")).revoke(ids));
}
