import { extname } from "node:path";
import { z } from "zod";
import type { ToolContent } from "../../../core/events/content.ts";
import { traitsOf } from "../../builtin-tools.ts";
import {
  type BuiltinCall,
  type BuiltinOutcome,
  type BuiltinTool,
  textOutcome,
  type ToolDirectories,
} from "./builtin-tool.ts";
import {
  DEFAULT_LINES,
  linesIn,
  MAX_TEXT_BYTES,
  numberLines,
  requireFitting,
  requireReadable,
  scanLines,
  type LineExcerpt,
} from "./files/lines.ts";
import { IMAGE_EXTENSIONS, imageContent, MAX_PDF_BYTES, pdfContent, sizeText } from "./files/media.ts";
import { missingFile } from "./files/missing-file.ts";
import { notebookContent, parseNotebook } from "./files/notebook.ts";
import {
  bytesOf,
  openExisting,
  type OpenFile,
  runForOutcome,
  permittedPath,
  inputRefusal,
  ToolFailure,
} from "./files/open-file.ts";
import type { SeenFiles } from "./files/seen-files.ts";
import { decodeText, isBinary, type TextFile } from "./files/text.ts";

const input = z.strictObject({
  file_path: z.string().describe("The absolute path to the file to read"),
  offset: z
    .int()
    .min(0)
    .optional()
    .describe("The line number to start reading from. Only provide if the file is too large to read at once"),
  limit: z
    .int()
    .positive()
    .optional()
    .describe("The number of lines to read. Only provide if the file is too large to read at once."),
  pages: z
    .string()
    .optional()
    .describe('Page range for PDF files (e.g., "1-5"). Not available here: a PDF is read as a whole.'),
  allow_large: z
    .boolean()
    .optional()
    .describe(
      "Set to true to read a text file, or a line range of one, that is over the usual size limits. Only use this when you genuinely need all of it or the user asked for the whole file; otherwise read it in parts with offset and limit, or search it.",
    ),
});
/** Shared by all sessions, so that it is created and compiled once. */
const INPUT_SCHEMA = z.toJSONSchema(input);

type Input = z.infer<typeof input>;

const DESCRIPTION = `Reads a file from the local filesystem.

- \`file_path\` must be an absolute path.
- Reads up to ${DEFAULT_LINES} lines by default.
- When you already know which part of the file you need, only read that part. This can be important for larger files.
- Results are returned using cat -n format, with line numbers starting at 1
- Reads images (PNG, JPG, GIF, WebP) and presents them visually. Reads PDFs as a whole. Reads Jupyter notebooks (.ipynb) as cells with outputs.
- Reading a directory, a missing file, or an empty file returns an error or system reminder rather than content.
- Do NOT re-read a file you just edited to verify — Edit/Write would have errored if the change failed.`;

export function readTool(place: ToolDirectories, seen: SeenFiles): BuiltinTool {
  return {
    name: "Read",
    description: DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    traits: traitsOf("Read"),
    run: (given, call) => runForOutcome(() => run(input.parse(given), call, { place, seen })),
  };
}

interface Parts {
  readonly place: ToolDirectories;
  readonly seen: SeenFiles;
}

async function run(given: Input, call: BuiltinCall, { place, seen }: Parts): Promise<BuiltinOutcome> {
  const { file_path: named } = given;
  const real = permittedPath(call, "read");
  using file = openExisting(real, named);
  if (file === undefined) throw new ToolFailure(missingFile(real, place.cwd));
  const extension = extname(named).slice(1).toLowerCase();
  const whole = async (most: number): Promise<Buffer> => {
    if (file.stats.size > most)
      throw new ToolFailure(
        `${named} is ${sizeText(file.stats.size)}; at most ${sizeText(most)} can be read of such a file.`,
      );
    const bytes = await bytesOf(file);
    seen.note(call.threadId, real, { bytes, isWhole: true });
    return bytes;
  };
  if (IMAGE_EXTENSIONS.includes(extension)) return successOutcome(imageContent(await whole(MAX_PDF_BYTES), named));
  if (extension === "pdf") {
    if (given.pages !== undefined)
      throw new ToolFailure("Single pages of a PDF cannot be read here. Leave pages out to read all of it.");
    return successOutcome(pdfContent(await whole(MAX_PDF_BYTES), named));
  }
  if (extension === "ipynb")
    return successOutcome(notebookContent(parseNotebook((await whole(MAX_TEXT_BYTES)).toString("utf8"))));
  // Awaited here, because the file is closed on return.
  return await readText(file, { given, real, call, seen, extension });
}

async function readText(
  file: OpenFile,
  {
    given,
    real,
    call,
    seen,
    extension,
  }: { given: Input; real: string; call: BuiltinCall; seen: SeenFiles; extension: string },
): Promise<BuiltinOutcome> {
  const { offset, limit, allow_large: isLargeWanted = false } = given;
  const isPart = offset !== undefined || limit !== undefined;
  const { size } = file.stats;
  if (!isPart && !isLargeWanted) requireReadable(size);
  const range = { first: Math.max(1, offset ?? 1), count: limit ?? (isLargeWanted ? Infinity : DEFAULT_LINES) };
  let result: LineExcerpt;
  let flaw: TextFile["flaw"];
  if (size <= MAX_TEXT_BYTES) {
    const bytes = await bytesOf(file);
    if (isBinary(extension, bytes))
      throw inputRefusal(
        `This tool cannot read binary files. The file appears to be a binary .${extension} file. Use a skill for this file type if one is available, or a shell command or script that can read the format.`,
      );
    const text = decodeText(bytes);
    flaw = text.flaw;
    seen.note(call.threadId, real, { bytes, isWhole: !isPart });
    if (text.text === "") return textOutcome(reminder("the file exists but the contents are empty."));
    result = linesIn(text.text, range);
  } else {
    if (!isPart)
      throw new ToolFailure(`${given.file_path} is ${sizeText(size)}. Read it in parts, with offset and limit.`);
    result = await scanLines(file, range, call.signal);
  }
  if (result.lines.length === 0)
    return textOutcome(
      reminder(
        `the file exists but is shorter than the provided offset (${range.first}). The file has ${result.total} lines.`,
      ),
    );
  const text = numberLines(result.lines, range.first);
  if (!isLargeWanted) requireFitting(text);
  return textOutcome(text + unfinishedNote(result, range.first, limit) + (flaw === undefined ? "" : FLAWS[flaw]));
}

/** A call with a limit knows that there may be more lines. */
function unfinishedNote({ lines, total }: LineExcerpt, first: number, limit: number | undefined): string {
  const last = first + lines.length - 1;
  if (limit !== undefined || last >= total) return "";
  return `\n\n[Lines ${first} to ${last} of ${total} are shown. Read on with offset: ${last + 1}.]`;
}

const REFUSED_LATER =
  "Edit and Write will refuse it: change it with a shell command that keeps its encoding, or ask the user whether to convert it to UTF-8.]";

const FLAWS: Readonly<Record<NonNullable<TextFile["flaw"]>, string>> = {
  encoding: `\n\n[This file is not valid UTF-8: it uses a legacy encoding such as Windows-1252, Shift-JIS or GBK, or it is binary. Its undecodable bytes show above as U+FFFD. ${REFUSED_LATER}`,
  nul: `\n\n[This file has NUL bytes in its first 8 KB: binary data, UTF-16/UTF-32 without a byte-order mark, or text with embedded NULs. ${REFUSED_LATER}`,
};

function reminder(text: string): string {
  return `<system-reminder>Warning: ${text}</system-reminder>`;
}

function successOutcome(content: ToolContent): BuiltinOutcome {
  return { content, isError: false };
}
