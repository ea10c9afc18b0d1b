import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { Command } from "commander";
import { afterAll, expect, test } from "vitest";
import { addCommands } from "../src/cli/commands.ts";
import { ERROR_CODES } from "../src/core/errors.ts";
import { preview, sessionEvent } from "../src/core/events/events.ts";
import { FASTER } from "./support/cli.ts";
import { ConsoleHome, type Output } from "./support/console-home.ts";
import { temporaryDirectory } from "./support/host.ts";
import { installation, onTestEngine } from "./support/installation.ts";

const run = promisify(execFile);
const pages = [
  "README.md",
  "CONTEXT.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
];
const textOf = new Map(pages.map((page) => [page, readFileSync(page, "utf8")]));

interface Block {
  /** Where it begins, such as `docs/tools.md:12`. */
  readonly place: string;
  /** A file name made of the place. */
  readonly file: string;
  readonly runs: boolean;
  readonly code: string;
}

const blocks: readonly Block[] = pages.flatMap((page) => {
  const text = textOf.get(page) ?? "";
  return [...text.matchAll(/^```ts( run)?\n([\s\S]*?)^```$/gm)].map((match): Block => {
    const line = text.slice(0, match.index).split("\n").length;
    const file = `${page.replaceAll(/\W/g, "-")}-${line}.ts`;
    return { place: `${page}:${line}`, file, runs: match[1] !== undefined, code: match[2] ?? "" };
  });
});

/** A block may speak of a host and a session without making them. */
const PRELUDE = `import type { Host, Session } from "capstan";
declare global {
  const host: Host;
  const session: Session;
}
`;

test("every TypeScript block compiles", async () => {
  expect(blocks.length).toBeGreaterThan(0);
  using directory = installation(blocks.map(({ file, code }) => [file, code]));
  writeFileSync(join(directory.path, "prelude.d.ts"), PRELUDE);
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false, moduleDetection: "force" };
  const config = { extends: resolve("tsconfig.json"), compilerOptions, include: ["*.ts"] };
  writeFileSync(join(directory.path, "tsconfig.json"), JSON.stringify(config));
  const tsc = resolve("node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, "-p", directory.path]).catch(
    (error: unknown) => error as Output,
  );
  const named = blocks.reduce((text, { file, place }) => text.replaceAll(file, `${file} (${place})`), stdout);
  expect(named).toBe("");
});

test.for(blocks.filter(({ runs }) => runs))("the program at $place runs", async ({ file, code }) => {
  using directory = installation([[file, onTestEngine(code)]]);
  using home = temporaryDirectory();
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home.path, ...FASTER };
  // Rejects when the exit code is not 0.
  const { stdout } = await run(process.execPath, [file], { cwd: directory.path, env, timeout: 50_000 });
  expect(stdout).not.toBe("");
});

test("links lead to files and headings that exist", () => {
  const broken: string[] = [];
  for (const [page, text] of textOf)
    for (const [, target = ""] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : join(dirname(page), path);
      const isFound = existsSync(file) && (anchor === undefined || anchorsOf(file).includes(anchor));
      if (!isFound) broken.push(`${page} -> ${target}`);
    }
  expect(broken).toEqual([]);
});

test("docs/README.md links to every page once", () => {
  // Decisions have an index of their own.
  const listed = pages.filter((page) => /^docs\/(?!README|decisions\/(?!README))/.test(page));
  const index = textOf.get("docs/README.md") ?? "";
  const linked = [...index.matchAll(/\]\(([^)\s#]+)\)/g)].map(([, target = ""]) => join("docs", target));
  expect(linked.filter((page) => page.startsWith("docs/")).toSorted()).toEqual(listed.toSorted());
});

/** As GitHub makes them of headings. */
function anchorsOf(file: string): string[] {
  return [...withoutCode(readFileSync(file, "utf8")).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, "");
}

/** The first cells of every table row that begins with a code word, with the cells after it. */
function rowsOf(page: string): string[][] {
  return [...(textOf.get(page) ?? "").matchAll(/^\| `([\w.]+)` \|(.*)\|$/gm)].map(([, name = "", rest = ""]) => [
    name,
    ...rest.split("|").map((cell) => cell.trim()),
  ]);
}

test("docs/errors.md has every code with its exit code", () => {
  const table = rowsOf("docs/errors.md").map(([code = "", exitCode]): [string, number] => [code, Number(exitCode)]);
  expect(Object.fromEntries(table)).toEqual(ERROR_CODES);
  expect(table.length).toBe(Object.keys(ERROR_CODES).length);
});

test("docs/sessions-and-events.md has every event and preview", () => {
  const types = [...sessionEvent.options, ...preview.options].map(({ shape }) => shape.type.value);
  const table = rowsOf("docs/sessions-and-events.md").map(([type = ""]) => type);
  expect(table.filter((type) => type.includes(".") || type.startsWith("event_")).toSorted()).toEqual(types.toSorted());
});

/** Each command with the words that lead to it, such as `sessions show`. */
const commands = new Map(commandsOf(program()));

function program(): Command {
  const capstan = new Command("capstan").option("-V, --version");
  addCommands(capstan);
  return capstan;
}

function* commandsOf(command: Command, path: readonly string[] = []): Generator<[string, Command]> {
  yield [path.join(" "), command];
  for (const child of command.commands) yield* commandsOf(child, [...path, child.name()]);
}

test("docs/cli.md has each command with its options, and no other", () => {
  const sections = new Map(
    (textOf.get("docs/cli.md") ?? "")
      .split(/^## /m)
      .flatMap((section) => [[/^`capstan ([a-z]+(?: [a-z]+)*)/.exec(section)?.[1], section] as const]),
  );
  for (const [path, command] of commands) {
    if (command.commands.length > 0) continue;
    const section = sections.get(path);
    expect(section, `capstan ${path}`).toBeDefined();
    const told = [...(section ?? "").matchAll(/^\| (?:`-\w`, )?`(--[\w-]+)/gm)].map(([, long = ""]) => long);
    expect(told.toSorted(), `capstan ${path}`).toEqual(command.options.map(({ long }) => long ?? "").toSorted());
  }
});

const place = new ConsoleHome();
afterAll(() => place[Symbol.dispose]());

interface Shell {
  readonly place: string;
  /** Only looked at, not run: it needs a key or the network. */
  readonly onlyChecked: boolean;
  readonly lines: readonly string[];
}

const shells: readonly Shell[] = pages.flatMap((page) => {
  const text = textOf.get(page) ?? "";
  return [...text.matchAll(/^```console( check)?\n([\s\S]*?)^```$/gm)].map((match): Shell => {
    const line = text.slice(0, match.index).split("\n").length;
    return {
      place: `${page}:${line}`,
      onlyChecked: match[1] !== undefined,
      lines: (match[2] ?? "").trim().replaceAll("\\\n", "").split("\n"),
    };
  });
});

test("every block of code is of a kind that some test looks at", () => {
  // test/config/docs.test.ts looks at YAML. What has no language is no code: output, a tree, a grammar. Pictures are mermaid.
  const kinds = new Set([
    "ts",
    "ts run",
    "console",
    "console check",
    "yaml agent",
    "yaml settings",
    "yaml graders",
    "yaml suite",
    "sh",
    "mermaid",
    "",
  ]);
  for (const [page, text] of textOf) {
    const fences = [...text.matchAll(/^```(.*)$/gm)].map(([, kind = ""]) => kind);
    for (const kind of fences.filter((_, index) => index % 2 === 0)) expect(kinds, page).toContain(kind);
  }
});

test("the commands in the documents exist, with their options", () => {
  for (const { place, lines } of shells)
    for (const line of lines.filter((text) => text.startsWith("$ ")))
      for (const [, command = ""] of line.matchAll(
        /(?:^\$ |\| |["\w] )(?:bin\/)?capstan((?: (?:"[^"]*"|[^\s|>#"]+))*)/g,
      ))
        expect(wrongIn(command.trim()), `${place} ${line}`).toBe("");
});

/** The first word of a call that is neither a command nor an option; empty when all is well. */
function wrongIn(call: string): string {
  let path = "";
  for (const word of call.match(/"[^"]*"|\S+/g) ?? []) {
    const below = `${path} ${word}`.trim();
    const command = commands.get(path);
    if (word === "--") return "";
    if (word === "help") path = "";
    else if (commands.has(below)) path = below;
    else if (word.startsWith("-") && word !== "-h" && word !== "--help") {
      if (!command?.options.some(({ short, long }) => word === short || word === long)) return word;
    } else if (command?.commands.length !== 0 && !word.startsWith("-")) return word;
  }
  return "";
}

/** Shell commands in the documents that are not Capstan's: scripts of the package, files that are there. */
test("other commands in the documents name scripts and files that exist", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  for (const [page, text] of textOf)
    for (const [, code = ""] of text.matchAll(/^```sh\n([\s\S]*?)^```$/gm))
      for (const line of code.trim().split("\n")) {
        const [, script] = /^npm (?:run )?([\w:]+)/.exec(line) ?? [];
        const [, file] = /^npx (?:node|vitest run --project '\S+') (\S+)$/.exec(line) ?? [];
        const other = /^(?:rm -rf ~\/\.capstan|[A-Z_]+="[^"]*"|npm (?:pack|install \S+))$/.test(line);
        const isKnown =
          other || (script !== undefined && script in scripts) || (file !== undefined && existsSync(file));
        expect(isKnown, `${page}: ${line}`).toBe(true);
      }
});

test.for(shells.filter(({ onlyChecked }) => !onlyChecked))("the commands at $place do what is shown", async (shell) => {
  const typed = shell.lines
    .filter((line) => line.startsWith("$ "))
    .map((line) => line.slice(2).split(/ +# exit code /));
  const [first = ""] = typed[0] ?? [];
  const begins = /^capstan run (?!.*(?: -c |c0ffee))/.test(first);
  // A session is there to be spoken of, where the block does not begin with making one.
  const isSpokenOf = / -c /.test(first) || typed.some(([line = ""]) => line.includes("c0ffee"));
  if (!begins && isSpokenOf) await place.begin('capstan run --rehearsal "list the files"');
  else if (!begins) place.empty();
  const printed: string[] = [];
  for (const [index, [line = "", code = "0"]] of typed.entries()) {
    const id = line.includes("c0ffee") ? await place.lastSession() : "";
    const result = await (begins && index === 0 ? place.begin(line) : place.type(line.replaceAll(/c0ffee\d\d/g, id)));
    expect(result.code ?? 0, `${line}\n${JSON.stringify(result)}`).toBe(Number(code));
    printed.push(...result.stdout.split("\n").map(timeless));
  }
  for (const line of shell.lines.filter((text) => !text.startsWith("$ ") && text !== "…"))
    expect(printed).toContain(timeless(line));
});

/** Without what differs from run to run. */
function timeless(line: string): string {
  return line
    .replaceAll(/\b[\da-f]{8}\b/g, "ID")
    .replaceAll(/\d+(?:\.\d+)? (?:ms|s|min|h|d)\b(?: \d+ s\b)?/g, "TIME")
    .replaceAll(/\$[\d.]+/g, "COST")
    .replaceAll(/[\d,]+ tokens in, [\d,]+ out/g, "TOKENS")
    .replaceAll(/ +/g, " ");
}

test("the screens are those of this program", async () => {
  using home = temporaryDirectory();
  const env = { PATH: process.env["PATH"], HOME: home.path, ...FASTER };
  const { stdout } = await run("bin/capstan", ["--help"], { env });
  expect(readFileSync("docs/screens/help-80.txt", "utf8")).toContain(stdout.split("\n\nExamples")[0]);
  expect(textOf.get("README.md")).toContain(readFileSync("docs/screens/start-80.txt", "utf8"));
});
