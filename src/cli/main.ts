#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";

// Node 22 prints a warning that node:sqlite is experimental, which is noise to users.
const warn = process.emitWarning.bind(process) as (...args: unknown[]) => void;
process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
  if (rest[0] !== "ExperimentalWarning") warn(warning, ...rest);
};
// Caches the compiled code of everything imported from here on, so there are no static imports of our own above.
enableCompileCache();
const [{ Command }, { addCommands }, { reportFailure }] = await Promise.all([
  import("commander"),
  import("./commands.ts"),
  import("./terminal/failure.ts"),
]);

const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const program = new Command("capstan")
  .description("Run supervised Claude agents on this machine.")
  .version(manifest.version, "-V, --version", "print the version")
  .helpOption("-h, --help", "print help")
  .helpCommand("help [command]", "print help for a command")
  .showSuggestionAfterError()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "capstan: ")) })
  .configureHelp({ sortSubcommands: false })
  .addHelpText(
    "after",
    `
Examples:
  $ capstan run --rehearsal "list the files"      try it without a key
  $ capstan run "explain this repository"         needs ANTHROPIC_API_KEY
  $ capstan run -c "and now the tests"            continue the last session
  $ capstan doctor                                check this machine

Exit codes: 0 success, 1 the agent failed, 2 usage or configuration error,
3 engine or store error, 4 limit reached, 5 waiting for approval,
130 interrupted.`,
  );
addCommands(program, process.argv[2]);

// A reader that closes early (`capstan … | head -1`) is not an error; a full disk is.
process.stderr.on("error", () => {});
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE" && error.code !== "EIO") process.exitCode = reportFailure(error);
});
try {
  await program.parseAsync();
} catch (thrown) {
  process.exitCode = reportFailure(thrown);
}
