// Captures what the CLI looks like in a terminal, at 80 and at 200 columns, as text in docs/screens/. Needs tmux.
// What differs from run to run (ids, costs, times, paths) is replaced, so that running it again changes nothing.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { stable } from "./screens-stable.ts";

/** File → the commands on that screen. LAST stands for the id of the last session. */
const SCREENS: Readonly<Record<string, readonly string[]>> = {
  start: ["npm start"],
  help: ["capstan --help"],
  "help-run": ["capstan run --help"],
  run: [
    `capstan run --rehearsal --mode yolo "list the files, then write hello.js with console.log('Hello'), then run node hello.js"`,
  ],
  "run-denied": ['capstan run --rehearsal --deny "read notes.txt, then run rm notes.txt"'],
  "run-failed": ['capstan run --rehearsal --mode yolo "run cat notes.txt, then run ls no-such-file"'],
  sessions: ["capstan sessions list", "capstan sessions show LAST"],
  config: ["capstan config show"],
  doctor: ["capstan doctor"],
  errors: [
    'capstan run --rehearsl "list the files"',
    'capstan run "list the files"',
    'capstan run --rehearsal --agent agent.yaml "list the files"',
    "capstan sessions show ffff",
  ],
};
const WIDTHS = [80, 200];
/** Reset, bold, dim, red, green, yellow and what ends them: readable on a dark and on a light ground. */
const ALLOWED = new Set(["", "0", "1", "2", "22", "31", "32", "33", "39", "49"]);

const root = resolve(import.meta.dirname, "..");
const out = join(root, "docs", "screens");
if (spawnSync("tmux", ["-V"]).error !== undefined) {
  console.error("The screens are captured in tmux, which is not installed here. On Debian: apt-get install tmux");
  process.exit(2);
}
mkdirSync(out, { recursive: true });
for (const width of WIDTHS) capture(width);
console.log(`The screens are in ${out}.`);

function capture(width: number): void {
  // As long as what replaces it, so that lines break where they would.
  const place = mkdtempSync(join(tmpdir(), "c-"));
  const { cwd, env } = prepare(place);
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-S", join(place, "socket"), "-f", "/dev/null", ...args], { cwd, env, encoding: "utf8" });
  try {
    for (const [name, commands] of Object.entries(SCREENS)) {
      const last = lastSession(cwd, env);
      const typed = commands.map((command) => command.replace("LAST", last));
      const lines = typed.flatMap((command) => [
        `printf '%s\\n' ${quoteWord(`$ ${command}`)}`,
        inRoot(command),
        "echo",
      ]);
      // The shell stays until the screen was read.
      writeFileSync(join(place, "script"), [...lines, "tmux wait-for -S done", "sleep 60"].join("\n"));
      tmux("new-session", "-d", "-x", String(width), "-y", "120", `sh ${join(place, "script")}`);
      tmux("wait-for", "done");
      refuseOtherColours(name, tmux("capture-pane", "-p", "-e"));
      writeFileSync(join(out, `${name}-${width}.txt`), stable(tmux("capture-pane", "-p"), place));
      tmux("kill-session");
    }
  } finally {
    spawnSync("tmux", ["-S", join(place, "socket"), "kill-server"], { env });
    rmSync(place, { recursive: true, force: true });
  }
}

/** A home, a directory to work in and `capstan` on the path; nothing of this machine's own. */
function prepare(place: string): { cwd: string; env: Record<string, string> } {
  const cwd = join(place, "notes");
  const bin = join(place, "bin");
  for (const directory of [cwd, bin]) mkdirSync(directory);
  writeFileSync(join(cwd, "notes.txt"), "Buy milk.\n");
  writeFileSync(join(cwd, "agent.yaml"), "name: reviewer\ninstuctions: Review the change.\n");
  symlinkSync(join(root, "bin", "capstan"), join(bin, "capstan"));
  const path = [bin, join(root, "node_modules/node/bin"), process.env["PATH"]].join(delimiter);
  return { cwd, env: { HOME: place, PATH: path, LANG: "C.UTF-8", TERM: "xterm-256color" } };
}

function lastSession(cwd: string, env: Record<string, string>): string {
  const list = execFileSync("capstan", ["sessions", "list", "--json", "--limit", "1"], { cwd, env, encoding: "utf8" });
  return /"id":"[^"]*([^"]{8})"/.exec(list)?.[1] ?? "";
}

function refuseOtherColours(name: string, raw: string): void {
  for (const sequence of raw.split("\u001B[").slice(1)) {
    const codes = /^([\d;:]*)m/.exec(sequence)?.[1] ?? "?";
    if (codes.split(/[;:]/).some((code) => !ALLOWED.has(code)))
      throw new Error(`The screen "${name}" uses the escape code ${codes}.`);
  }
}

/** npm's scripts are started in the clone, everything else in the directory to work in. A server is ended after a while. */
function inRoot(command: string): string {
  return command.startsWith("npm ") ? `(cd ${quoteWord(root)} && timeout --foreground -s TERM 8 ${command})` : command;
}

function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
