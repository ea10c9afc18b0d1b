import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Suite } from "../../core/suite/suite.ts";
import { CapstanError } from "../../core/errors.ts";
import { cassettePath, readCassette } from "./cassette-files.ts";

export interface StaleCassette {
  readonly file: string;
  readonly case: string;
  readonly trial: number;
  readonly why: string;
}

export interface CassetteCheck {
  readonly stale: readonly StaleCassette[];
  /** Other files in the directory, which are never removed. */
  readonly others: readonly string[];
}

/** The cassettes in a directory that no trial of the suite would replay; all of them if the suite is gone. */
export async function staleCassettes(directory: string, suite: Suite | undefined): Promise<CassetteCheck> {
  const used = new Set(suite?.cases.flatMap((one) => trialsOf(one.trials).map((n) => cassettePath(suite, one, n))));
  const stale: StaleCassette[] = [];
  const others: string[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const file = join(directory, entry.name);
    if (used.has(file)) continue;
    const read = entry.isFile() && entry.name.endsWith(".json") ? await readable(file) : undefined;
    if (read === undefined) others.push(file);
    else stale.push({ file, case: read.case, trial: read.trial, why: whyStale(read, suite) });
  }
  return { stale: stale.toSorted((a, b) => (a.file < b.file ? -1 : 1)), others };
}

async function readable(file: string): Promise<Awaited<ReturnType<typeof readCassette>>> {
  try {
    return await readCassette(file);
  } catch (error) {
    if (error instanceof CapstanError) return undefined;
    throw error;
  }
}

function whyStale(
  { case: name, trial }: { readonly case: string; readonly trial: number },
  suite: Suite | undefined,
): string {
  if (suite === undefined) return "its suite no longer exists";
  const found = suite.cases.find((one) => one.name === name);
  if (found === undefined) return "its case no longer exists";
  const { trials } = found;
  if (trial > trials)
    return `the case has only ${trials} ${trials === 1 ? "trial" : "trials"}, and this is trial ${trial}`;
  return `trial ${trial} of the case is replayed from ${basename(cassettePath(suite, found, trial))}`;
}

function trialsOf(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
