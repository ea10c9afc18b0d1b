import { type Command, InvalidArgumentError, Option } from "commander";
import type { ServeFlags } from "./serve-prepare.ts";
import { engineOption } from "../run/session-options.ts";
import { declareCommand } from "../declare-command.ts";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"];

export function addServeCommand(program: Command): void {
  declareCommand(program, "serve", { server: "ignored" })
    .description("serve agents over HTTP: to Anthropic's SDKs, your programs and the browser")
    .option("--host <address>", "address to listen on; others than loopback need TLS or a proxy", "127.0.0.1")
    .option("--port <number>", "port; 0 picks a free one", port, 4310)
    .option("--open", "open a browser and log in")
    .option("--behind-proxy", "a proxy terminates TLS; requires an https --public-url")
    .option("--public-url <url>", "public URL, if different from the listen address")
    .option("--tls-cert <file>", "TLS certificate (PEM)")
    .option("--tls-key <file>", "private key of the certificate (PEM)")
    .addOption(engineOption("engine for agents that name none"))
    .option("--rehearsal", "use the built-in scripted model (default if no credentials are found)")
    .option("--trust", "trust the project's files as they are now, until the server stops")
    .option("--grace <duration>", "how long running turns may continue at shutdown", "20s")
    .addOption(new Option("--log-level <level>", "log level").choices(LOG_LEVELS).default("info"))
    .option("--stdio", "talk JSON-RPC to the parent process, one message per line, instead of listening")
    .option("--json", "print the addresses as a JSON object")
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
    throw new InvalidArgumentError("Must be a whole number from 0 to 65535.");
  return value;
}
