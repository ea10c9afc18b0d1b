import { type Command, Option } from "commander";
import { AUTH_PROVIDERS } from "../../core/auth/auth-provider.ts";
import type { StatusFlags, TestCredentialFlags } from "./auth.ts";
import type { LoginFlags, LogoutFlags } from "./auth-login.ts";
import { declareCommand } from "../declare-command.ts";

const provider = (description: string): Option =>
  new Option("-p, --provider <provider>", description).choices(AUTH_PROVIDERS);

export function addAuthCommand(program: Command): void {
  const auth = program
    .command("auth")
    .description("show, test and save model credentials")
    .addHelpText("after", "\nExample:\n  $ capstan auth login");
  declareCommand(auth, "status", { server: "refused", isDefault: true })
    .description("show which credentials are set, where they come from and what is missing")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan auth status")
    .action(async (flags: StatusFlags) => (await import("./auth.ts")).status(flags));
  declareCommand(auth, "test", { server: "refused" })
    .description("send the model a one-word test request")
    .addOption(provider("provider to test (default: the one that sessions use)"))
    .option("-m, --model <model>", "model to use (default: from your settings)")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan auth test --provider bedrock")
    .action(async (flags: TestCredentialFlags) => (await import("./auth.ts")).testProviders(flags));
  declareCommand(auth, "login", { server: "refused" })
    .description("save a key or token in the system keyring, or in a file that only you can read")
    .addOption(provider("provider the key is for").default("api_key"))
    .addHelpText("after", "\nExample:\n  $ capstan auth login --provider oauth_token")
    .action(async (flags: LoginFlags) => (await import("./auth-login.ts")).login(flags));
  declareCommand(auth, "logout", { server: "refused" })
    .description("remove saved credentials")
    .addOption(provider("provider (default: all)"))
    .addHelpText("after", "\nExample:\n  $ capstan auth logout")
    .action(async (flags: LogoutFlags) => (await import("./auth-login.ts")).logout(flags));
}
