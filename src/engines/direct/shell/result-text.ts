import { openOwnFile } from "../../../process/own-files.ts";
import { type CapturedOutput, endsOf, decodeOutput } from "./captured-output.ts";

/** How many characters of an output the model gets. */
const MAX_SHOWN = 30_000;

export interface OutputForModel {
  readonly text: string;
  /** The file with the whole output, if `text` has only both ends. */
  readonly whole?: string;
}

/** What a command printed: stdout, then stderr. Output that is too long is saved to a file. */
export async function outputForModel(
  { stdout, stderr }: { readonly stdout: CapturedOutput; readonly stderr: CapturedOutput },
  newFile: () => string,
): Promise<OutputForModel> {
  const [out, err] = [stdout.small, stderr.small];
  if (out !== undefined && err !== undefined) {
    const printed = decodeOutput(out).replace(/^(?:[^\S\n]*\n)+/, "");
    const text = [printed.trimEnd(), decodeOutput(err).trim()].filter((part) => part !== "").join("\n");
    if (text.length <= MAX_SHOWN) return { text };
  }
  const file = newFile();
  await using handle = await openOwnFile(file);
  await stdout.appendTo(handle);
  await stderr.appendTo(handle);
  const half = MAX_SHOWN / 2;
  const { head, tail, size } = await endsOf(handle, half);
  const first = whole(decodeOutput(head).slice(0, half));
  const last = whole(decodeOutput(tail).slice(-half));
  const cut = `[The middle is left out. All ${size} bytes are in ${file}]`;
  return { text: `${first}\n\n${cut}\n\n${last}`.trim(), whole: file };
}

/** A cut may split a surrogate pair. */
function whole(text: string): string {
  return text.toWellFormed();
}

/** For example `2m 30s`. */
export function shortDuration(ms: number): string {
  const seconds = Math.round(ms / 100) / 10;
  const minutes = Math.floor(seconds / 60);
  const rest = Number((seconds - minutes * 60).toFixed(1));
  return [...(minutes > 0 ? [`${minutes}m`] : []), ...(rest > 0 || minutes === 0 ? [`${rest}s`] : [])].join(" ");
}
