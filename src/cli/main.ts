#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";

// Node 22 calls node:sqlite experimental and says so on stderr; to whoever runs a command that is noise.
const warn = process.emitWarning.bind(process) as (...args: unknown[]) => void;
process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
  if (rest[0] !== "ExperimentalWarning") warn(warning, ...rest);
};
// What is loaded from here on is compiled once and not at every start: hence no static imports of ours above.
enableCompileCache();
const [{ Command }, { addCommands }, { reportFailure }] = await Promise.all([
  import("commander"),
  import("./commands.ts"),
  import("./terminal/failure.ts"),
]);

/** Arguments in, a call, printing out. Everything heavy is loaded by the command that needs it. */
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const program = new Command("capstan")
  .description("Runs supervised Claude agents on this machine.")
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
  $ capstan run -c "and now the tests"            go on with the last session
  $ capstan doctor                                check this machine

Exit codes: 0 done, 1 the agent failed, 2 usage or configuration,
3 engine or store, 4 a limit was reached, 5 an approval is waiting, 130 interrupted.`,
  );
addCommands(program, process.argv[2]);

// A reader or a terminal that goes away (`capstan … | head -1`) is no error of ours; a disk that is full is.
process.stderr.on("error", () => {});
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE" && error.code !== "EIO") process.exitCode = reportFailure(error);
});
try {
  await program.parseAsync();
} catch (thrown) {
  process.exitCode = reportFailure(thrown);
}
