import { join } from "node:path";
import { makeOwnDirectory, writeOwnFile } from "../../../../process/own-files.ts";
import { type BuiltinOutcome, textOutcome, type ToolDirectories } from "../builtin-tool.ts";
import { sizeText } from "../files/media.ts";

const PREVIEW_CHARACTERS = 2_000;

const RESULTS = "tool-results";

/** Where results that are too long for the model are saved. The model may read them. */
export function resultsDirectory({ stateDir }: Pick<ToolDirectories, "stateDir">): string {
  return join(stateDir, RESULTS);
}

/** The same, and creates it. */
export function makeResultsDirectory({ stateDir }: Pick<ToolDirectories, "stateDir">): string {
  return makeOwnDirectory(stateDir, RESULTS);
}

/** A result of up to `most` characters; for a longer one its start, and a file with the whole result. */
export function boundedResult(
  text: string,
  { place, callId, most }: { readonly place: ToolDirectories; readonly callId: string; readonly most: number },
): BuiltinOutcome {
  if (text.length <= most) return textOutcome(text);
  const outputFile = join(makeResultsDirectory(place), `${callId.replaceAll(/[^\w-]/g, "_")}.txt`);
  writeOwnFile(outputFile, text);
  const start = text.slice(0, PREVIEW_CHARACTERS);
  const lines = start.includes("\n") ? start.slice(0, start.lastIndexOf("\n")) : start;
  return {
    ...textOutcome(
      `<persisted-output>\nOutput too large (${sizeText(Buffer.byteLength(text))}). Full output saved to: ${outputFile}\n\nPreview (first 2KB):\n${lines}\n...\n</persisted-output>`,
    ),
    outputFile,
  };
}
