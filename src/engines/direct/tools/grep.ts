import { statSync } from "node:fs";
import { z } from "zod";
import { traitsOf } from "../../builtin-tools.ts";
import { type BuiltinCall, type BuiltinOutcome, type BuiltinTool } from "./builtin-tool.ts";
import { runForOutcome, ToolFailure } from "./files/open-file.ts";
import { boundedResult } from "./search/long-result.ts";
import { type Match, readCounts, readFiles, readMatches } from "./search/output.ts";
import {
  type SearchParts,
  type SearchRoot,
  searchRoot,
  readableFiles,
  pathForModel,
  wholePath,
} from "./search/search-root.ts";
import { runRipgrep } from "./search/ripgrep.ts";

const ONLY_CONTENT = 'Requires output_mode: "content", ignored otherwise.';

const input = z.strictObject({
  pattern: z.string().describe("The regular expression pattern to search for in file contents"),
  path: z
    .string()
    .optional()
    .describe("File or directory to search in (rg PATH). Defaults to current working directory."),
  glob: z.string().optional().describe('Glob pattern to filter files (e.g. "*.js", "*.{ts,tsx}") - maps to rg --glob'),
  output_mode: z
    .enum(["content", "files_with_matches", "count"])
    .optional()
    .describe(
      'Output mode: "content" shows matching lines (supports -A/-B/-C context, -n line numbers, head_limit), "files_with_matches" shows file paths (supports head_limit), "count" shows match counts (supports head_limit). Defaults to "files_with_matches".',
    ),
  "-B": z.number().optional().describe(`Number of lines to show before each match (rg -B). ${ONLY_CONTENT}`),
  "-A": z.number().optional().describe(`Number of lines to show after each match (rg -A). ${ONLY_CONTENT}`),
  "-C": z.number().optional().describe("Alias for context."),
  context: z
    .number()
    .optional()
    .describe(`Number of lines to show before and after each match (rg -C). ${ONLY_CONTENT}`),
  "-n": z.boolean().optional().describe(`Show line numbers in output (rg -n). ${ONLY_CONTENT} Defaults to true.`),
  "-i": z.boolean().optional().describe("Case insensitive search (rg -i)"),
  "-o": z
    .boolean()
    .optional()
    .describe(
      `Print only the matched (non-empty) parts of each matching line, one match per output line (rg -o / --only-matching). ${ONLY_CONTENT} Defaults to false.`,
    ),
  type: z
    .string()
    .optional()
    .describe(
      "File type to search (rg --type). Common types: js, py, rust, go, java, etc. More efficient than include for standard file types.",
    ),
  head_limit: z
    .number()
    .optional()
    .describe(
      'Limit output to first N lines/entries, equivalent to "| head -N". Works across all output modes: content (limits output lines), files_with_matches (limits file paths), count (limits count entries). Defaults to 250 when unspecified. Pass 0 for unlimited (use sparingly — large result sets waste context).',
    ),
  offset: z
    .number()
    .optional()
    .describe(
      'Skip first N lines/entries before applying head_limit, equivalent to "| tail -n +N | head -N". Works across all output modes. Defaults to 0.',
    ),
  multiline: z
    .boolean()
    .optional()
    .describe(
      "Enable multiline mode where . matches newlines and patterns can span lines (rg -U --multiline-dotall). Default: false.",
    ),
});
/** Shared by all sessions, so that it is created and compiled once. */
const INPUT_SCHEMA = z.toJSONSchema(input);

type Input = z.infer<typeof input>;

const DESCRIPTION = `Content search built on ripgrep. Prefer this over \`grep\`/\`rg\` via Bash — results integrate with the permission UI and file links.

- Full regex syntax (e.g. "log.*Error", "function\\s+\\w+"). Ripgrep, not grep — escape literal braces (\`interface\\{\\}\`).
- Filter with \`glob\` (e.g. "**/*.tsx") or \`type\` (e.g. "js", "py", "rust").
- \`output_mode\`: "content" (matching lines), "files_with_matches" (paths only, default), or "count".
- \`multiline: true\` for patterns that span lines.`;

const DEFAULT_LIMIT = 250;
const MOST_CHARACTERS = 20_000;
/** Longer lines are not shown: they are rarely useful, and fill the context. */
const MOST_COLUMNS = 500;
/** Directories of version control systems. */
const PASSED_OVER = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

export function grepTool(parts: SearchParts): BuiltinTool {
  return {
    name: "Grep",
    description: DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    traits: traitsOf("Grep"),
    run: (given, call) => runForOutcome(() => run(input.parse(given), call, parts)),
  };
}

async function run(given: Input, call: BuiltinCall, parts: SearchParts): Promise<BuiltinOutcome> {
  const { place, confinement } = parts;
  const root = searchRoot(
    call,
    given.path ?? place.cwd,
    (missing) => `Path does not exist: ${missing}. Note: your current working directory is ${place.cwd}.`,
  );
  const args = [...searchOptions(given), ...modeOptions(given), "-e", given.pattern, "--", root.file ?? "./"];
  const found = await runRipgrep({ directory: root.directory, args }, { confinement, signal: call.signal });
  if (found.problem !== undefined)
    throw new ToolFailure(
      `Search failed — ripgrep rejected the pattern, glob, or file type without searching:\n${found.problem}`,
    );
  const isShown = readableFiles(parts, true);
  const shown = new Map<string, boolean>();
  const keepShown = <T extends { readonly path: string }>(entries: readonly T[]): T[] =>
    entries
      .map((entry) => ({ ...entry, path: wholePath(root.directory, entry.path) }))
      .filter(({ path }) => {
        const known = shown.get(path) ?? isShown(path);
        shown.set(path, known);
        return known;
      });
  const text = resultText(given, { root, keepShown, output: found.output, cwd: place.cwd });
  const cut = found.isCut ? "\n\n[There is more than a search gives at most. Narrow the pattern, glob or path.]" : "";
  return boundedResult(text + cut, { place, callId: call.callId, most: MOST_CHARACTERS });
}

function searchOptions({ glob, type, multiline, "-i": ignoreCase }: Input): string[] {
  return [
    "--hidden",
    ...PASSED_OVER.map((name) => `--glob=!${name}`),
    ...globsIn(glob ?? "").map((one) => `--glob=${one}`),
    // A line break in a file name could make it look like another file's match.
    "--glob=!*\n*",
    ...(type === undefined ? [] : [`--type=${type}`]),
    ...(multiline === true ? ["--multiline", "--multiline-dotall"] : []),
    ...(ignoreCase === true ? ["--ignore-case"] : []),
    `--max-columns=${MOST_COLUMNS}`,
    "--null",
    "--with-filename",
    "--no-heading",
  ];
}

/** Several patterns may be given, separated by whitespace, or by commas outside braces. */
function globsIn(glob: string): string[] {
  return glob
    .split(/\s+/)
    .flatMap((word) => (/[{}]/.test(word) ? [word] : word.split(",")))
    .filter((word) => word !== "");
}

function modeOptions(given: Input): string[] {
  const { output_mode: mode = "files_with_matches", "-o": onlyMatching } = given;
  if (mode === "files_with_matches") return ["--files-with-matches"];
  if (mode === "count") return ["--count"];
  const { "-A": after, "-B": before } = given;
  const around = given.context ?? given["-C"];
  const lines = around === undefined ? { "-A": after, "-B": before } : { "-C": around };
  return [
    "--line-number",
    ...(onlyMatching === true ? ["--only-matching"] : []),
    ...Object.entries(lines).flatMap(([option, value]) => (value === undefined ? [] : [option, String(value)])),
  ];
}

interface Results {
  readonly root: SearchRoot;
  readonly output: string;
  readonly cwd: string;
  /** Leaves out entries that must not be shown, and makes paths absolute. */
  readonly keepShown: <T extends { readonly path: string }>(entries: readonly T[]) => T[];
}

function resultText(given: Input, { root, output, cwd, keepShown }: Results): string {
  const mode = given.output_mode ?? "files_with_matches";
  const name = (path: string): string => pathForModel(path, cwd);
  if (mode === "files_with_matches") {
    const files = keepShown(readFiles(output)).map(({ path }) => path);
    const page = pageOf(newestFirst(files).map(name), given);
    if (page.lines.length === 0) return page.pages === "" ? "No files found" : nothingThere(page.pages);
    return [`Found ${countOf(page.lines.length, "file")}${page.pages && ` ${page.pages}`}`, ...page.lines].join("\n");
  }
  if (mode === "count") {
    const counts = keepShown(readCounts(output)).toSorted(byPath);
    const page = pageOf(
      counts.map(({ path, count }) => `${name(path)}:${count}`),
      given,
    );
    const total = counts.reduce((sum, { count }) => sum + count, 0);
    const pages = page.pages && ` with pagination = ${page.pages}`;
    const lines = page.lines.length === 0 ? "No matches found" : page.lines.join("\n");
    return `${lines}\n\nFound ${countOf(total, "total occurrence")} across ${countOf(counts.length, "file")}.${pages}`;
  }
  const page = pageOf(
    matchLines(keepShown(readMatches(output)), { given, isOneFile: root.file !== undefined, name }),
    given,
  );
  if (page.lines.length === 0) return page.pages === "" ? "No matches found" : nothingThere(page.pages);
  return page.lines.join("\n") + (page.pages && `\n\n[Showing results with pagination = ${page.pages}]`);
}

function matchLines(
  matches: readonly Match[],
  { given, isOneFile, name }: { given: Input; isOneFile: boolean; name: (path: string) => string },
): string[] {
  const hasContext = [given["-A"], given["-B"], given["-C"], given.context].some((lines) => (lines ?? 0) > 0);
  const isNumbered = given["-n"] ?? true;
  const lines: string[] = [];
  let last: Match | undefined;
  for (const match of matches.toSorted(byPath)) {
    const { path, line, sign, text } = match;
    const isNext = last !== undefined && last.path === path && line <= last.line + 1;
    if (hasContext && last !== undefined && !isNext) lines.push("--");
    lines.push([...(isOneFile ? [] : [name(path)]), ...(isNumbered ? [line] : []), text].join(sign));
    last = match;
  }
  return lines;
}

/** One page of the lines, and a description of the page if it is not everything. */
function pageOf(all: readonly string[], { head_limit: wanted, offset = 0 }: Input): { lines: string[]; pages: string } {
  const first = Math.max(0, Math.trunc(offset));
  const most = wanted === 0 ? Infinity : Math.max(1, Math.trunc(wanted ?? DEFAULT_LIMIT));
  const lines = all.slice(first, first + most);
  const isLimited = all.length - first > most;
  const pages = [...(isLimited ? [`limit: ${most}`] : []), ...(first > 0 ? [`offset: ${first}`] : [])].join(", ");
  return { lines, pages };
}

function nothingThere(pages: string): string {
  return `No entries at this offset. [Showing results with pagination = ${pages}]`;
}

function newestFirst(files: readonly string[]): string[] {
  return files
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((a, b) => b.at - a.at || byPath(a, b))
    .map(({ path }) => path);
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
