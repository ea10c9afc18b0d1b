import { type Command, Option } from "commander";
import type { CreateKeyFlags, ListKeysFlags } from "./keys.ts";
import { declareCommand } from "../declare-command.ts";

const ROLES = ["viewer", "operator", "admin"];

export function addKeysCommand(program: Command): void {
  const keys = program
    .command("keys")
    .description("create, list and revoke server keys")
    .addHelpText("after", "\nExample:\n  $ capstan keys create --name ci");
  declareCommand(keys, "create", { server: "refused" })
    .description("create a key for a project; it is shown only once")
    .option("-n, --name <name>", "what the key is for (default: your user name)")
    .addOption(new Option("--role <role>", "what the key may do").choices(ROLES).default("operator"))
    .option("-p, --project <dir>", "project (default: the current one)")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan keys create --name ci --role viewer")
    .action(async (flags: CreateKeyFlags) => (await import("./keys.ts")).createKey(flags));
  declareCommand(keys, "list", { server: "refused", isDefault: true })
    .description("list keys, oldest first")
    .option("-p, --project <dir>", "only this project")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan keys list")
    .action(async (flags: ListKeysFlags) => (await import("./keys.ts")).listKeys(flags));
  declareCommand(keys, "revoke", { server: "refused" })
    .description("revoke keys")
    .argument("<id...>", "key ids, or their first or last characters")
    .addHelpText("after", "\nExample:\n  $ capstan keys revoke 3f9a11c2")
    .action(async (ids: string[]) => (await import("./keys.ts")).revokeKeys(ids));
}
