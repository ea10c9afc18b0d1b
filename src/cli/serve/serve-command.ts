import { type Command, InvalidArgumentError, Option } from "commander";
import type { ServeFlags } from "./serve-prepare.ts";
import { engineOption } from "../run/session-options.ts";
import { declareCommand } from "../target/declare-command.ts";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"];

export function addServe(program: Command): void {
  declareCommand(program, "serve", { server: "ignored" })
    .description("serve agents over HTTP: to Anthropic's own clients, to programs, to a browser")
    .option("--host <address>", "where to listen; beyond this machine only with TLS or behind a proxy", "127.0.0.1")
    .option("--port <number>", "the port; 0 for any that is free", port, 4310)
    .option("--open", "open a browser, logged in")
    .option("--behind-proxy", "something before this server does the TLS; needs a --public-url with https")
    .option("--public-url <url>", "the address that people and programs use, when it is another")
    .option("--tls-cert <file>", "serve over TLS with this certificate (PEM)")
    .option("--tls-key <file>", "the key of that certificate (PEM)")
    .addOption(engineOption("what runs agents that name no engine"))
    .option("--rehearsal", "use the built-in scripted model; without credentials that is so by itself")
    .option("--trust", "trust the project's files as they are now, until the server stops")
    .option("--grace <duration>", "how long running turns may go on at the end", "20s")
    .addOption(new Option("--log-level <level>", "what the log tells").choices(LOG_LEVELS).default("info"))
    .option("--stdio", "speak JSON-RPC, one message per line, with the parent process instead of listening")
    .option("--json", "print the addresses as one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  $ capstan serve
  $ capstan serve --port 0 --json
  $ capstan serve --behind-proxy --public-url https://agents.example.org`,
    )
    .action(async (flags: ServeFlags, command: Command) => {
      const isGiven = (flag: string): boolean => command.getOptionValueSource(flag) === "cli";
      process.exitCode =
        flags.stdio === true
          ? await (await import("./serve-parent.ts")).serveParent(flags, isGiven)
          : await (await import("./serve.ts")).serveCommand(flags);
    });
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
  return value;
}
