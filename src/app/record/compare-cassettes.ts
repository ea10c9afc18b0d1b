import { CapstanError } from "../../core/errors.ts";
import type { Cassette } from "../../core/suite/cassette.ts";
import { readCassette } from "../../eval/compare/cassette-files.ts";
import { type CassetteDifference, compareCassettes } from "../../gateway/cassette/compare.ts";

export type { CassetteDifference };

/** Reads a cassette that must exist. */
export async function existingCassette(file: string): Promise<Cassette> {
  const found = await readCassette(file);
  if (found === undefined)
    throw new CapstanError(
      "not_found",
      `The cassette ${file} does not exist. Cassettes are in cassettes/ next to their suite. Create one with: capstan test --record`,
    );
  return found;
}

export async function compareCassetteFiles(before: string, after: string): Promise<readonly CassetteDifference[]> {
  return compareCassettes(await existingCassette(before), await existingCassette(after), [before, after]);
}
