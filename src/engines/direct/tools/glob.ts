import { realpathSync } from "node:fs";
import { z } from "zod";
import { traitsOf } from "../../builtin-tools.ts";
import { type BuiltinCall, type BuiltinOutcome, type BuiltinTool, textOutcome } from "./builtin-tool.ts";
import { runForOutcome, ToolFailure } from "./files/open-file.ts";
import { searchRoot, type SearchParts, readableFiles, pathForModel, wholePath } from "./search/search-root.ts";
import { runRipgrep } from "./search/ripgrep.ts";

const input = z.strictObject({
  pattern: z.string().describe("The glob pattern to match files against"),
  path: z
    .string()
    .optional()
    .describe(
      'The directory to search in. If not specified, the current working directory will be used. IMPORTANT: Omit this field to use the default directory. DO NOT enter "undefined" or "null" - simply omit it for the default behavior. Must be a valid directory path if provided.',
    ),
});
/** Shared by all sessions, so that it is created and compiled once. */
const INPUT_SCHEMA = z.toJSONSchema(input);

const DESCRIPTION =
  'Fast file pattern matching. Supports glob patterns like "**/*.js" or "src/**/*.ts". Returns matching file paths sorted by modification time.';

const MOST_SHOWN = 100;

export function globTool(parts: SearchParts): BuiltinTool {
  return {
    name: "Glob",
    description: DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    traits: traitsOf("Glob"),
    run: (given, call) => runForOutcome(() => run(input.parse(given), call, parts)),
  };
}

async function run(
  { pattern, path }: z.infer<typeof input>,
  call: BuiltinCall,
  parts: SearchParts,
): Promise<BuiltinOutcome> {
  const { cwd } = parts.place;
  const named = path ?? cwd;
  const { directory, file } = searchRoot(
    call,
    named,
    (missing) => `Directory does not exist: ${missing}. Note: your current working directory is ${cwd}.`,
  );
  if (file !== undefined) throw new ToolFailure(`Path is not a directory: ${named}`);
  const args = ["--files", "--null", "--hidden", "--no-ignore", "--sort=modified", `--glob=${pattern}`];
  const found = await runRipgrep({ directory, args }, { confinement: parts.confinement, signal: call.signal });
  if (found.problem !== undefined) throw new ToolFailure(`The search failed: ${found.problem}`);
  const isShown = readableFiles(parts, false);
  const files = found.output
    .split("\0")
    .filter((name) => name !== "")
    .map((name) => wholePath(directory, name))
    .filter(isShown);
  if (files.length === 0) return textOutcome("No files found");
  const root = realpathSync(cwd);
  const shown = files.slice(0, MOST_SHOWN).map((name) => pathForModel(name, root));
  const more = files.length - shown.length;
  const rest = `(Showing ${shown.length} of ${files.length}${found.isCut ? " or more" : ""} matching files; ${more} more are not listed. Narrow the pattern or path to see the rest.)`;
  return textOutcome([...shown, ...(more > 0 ? [rest] : [])].join("\n"));
}
