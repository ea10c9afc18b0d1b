import { type Command, Option } from "commander";
import { AUTH_PROVIDERS } from "../../core/auth/auth-provider.ts";
import type { StatusFlags, TestFlags } from "./auth.ts";
import type { LoginFlags, LogoutFlags } from "./auth-login.ts";
import { declareCommand } from "../target/declare-command.ts";

const provider = (description: string): Option =>
  new Option("-p, --provider <provider>", description).choices(AUTH_PROVIDERS);

export function addAuth(program: Command): void {
  const auth = program
    .command("auth")
    .description("show, test and store the credentials for the model")
    .addHelpText("after", "\nExample:\n  $ capstan auth login");
  declareCommand(auth, "status", { server: "refused", isDefault: true })
    .description("show what is set for each provider, where it came from and what is missing")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan auth status")
    .action(async (flags: StatusFlags) => (await import("./auth.ts")).status(flags));
  declareCommand(auth, "test", { server: "refused" })
    .description("ask the model for one word, and say what came back")
    .addOption(provider("of this one; else of the one that sessions use"))
    .option("-m, --model <model>", "ask this model; without it the one of your settings")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan auth test --provider bedrock")
    .action(async (flags: TestFlags) => (await import("./auth.ts")).test(flags));
  declareCommand(auth, "login", { server: "refused" })
    .description("store a key or token in the system's keyring, or in a file that only you can read")
    .addOption(provider("for this one").default("api_key"))
    .addHelpText("after", "\nExample:\n  $ capstan auth login --provider oauth_token")
    .action(async (flags: LoginFlags) => (await import("./auth-login.ts")).login(flags));
  declareCommand(auth, "logout", { server: "refused" })
    .description("forget what login stored")
    .addOption(provider("of this one; else of all"))
    .addHelpText("after", "\nExample:\n  $ capstan auth logout")
    .action(async (flags: LogoutFlags) => (await import("./auth-login.ts")).logout(flags));
}
