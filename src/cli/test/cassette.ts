import { compareCassetteFiles, existingCassette } from "../../app/record/compare-cassettes.ts";
import { cassetteText, differencesText } from "./cassette-view.ts";
import { columns } from "../terminal/text.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export async function showCassette(
  file: string,
  { full = false, json = false }: { readonly full?: boolean; readonly json?: boolean },
): Promise<void> {
  const cassette = await existingCassette(file);
  print(json ? hiddenFreeJson(cassette) : cassetteText(cassette, { isFull: full, width: Math.min(columns(), 100) }));
}

/** Returns the exit code: 1 if they differ. */
export async function diffCassettes(
  before: string,
  after: string,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const found = await compareCassetteFiles(before, after);
  if (json) for (const difference of found) print(hiddenFreeJson(difference));
  else print(found.length === 0 ? "No differences." : differencesText(found));
  return found.length === 0 ? 0 : 1;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
