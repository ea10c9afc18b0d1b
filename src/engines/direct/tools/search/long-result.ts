import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuiltinOutcome, textOutcome, type ToolPlace } from "../builtin-tool.ts";
import { sizeText } from "../files/media.ts";

const PREVIEW_CHARACTERS = 2_000;

/** Where results are kept that are too long for the model. The model may read there. */
export function resultsDirectory({ stateDir }: Pick<ToolPlace, "stateDir">): string {
  return join(stateDir, "tool-results");
}

/** A result of up to `most` characters; of a longer one the beginning, and a file with all of it. */
export function boundedResult(
  text: string,
  { place, callId, most }: { readonly place: ToolPlace; readonly callId: string; readonly most: number },
): BuiltinOutcome {
  if (text.length <= most) return textOutcome(text);
  const directory = resultsDirectory(place);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const outputFile = join(directory, `${callId.replaceAll(/[^\w-]/g, "_")}.txt`);
  rmSync(outputFile, { force: true });
  writeFileSync(outputFile, text, { mode: 0o600, flag: "wx" });
  const start = text.slice(0, PREVIEW_CHARACTERS);
  const lines = start.includes("\n") ? start.slice(0, start.lastIndexOf("\n")) : start;
  return {
    ...textOutcome(
      `<persisted-output>\nOutput too large (${sizeText(Buffer.byteLength(text))}). Full output saved to: ${outputFile}\n\nPreview (first 2KB):\n${lines}\n...\n</persisted-output>`,
    ),
    outputFile,
  };
}
