import { existsSync, readdirSync, statSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { readSuite } from "../../config/suite/suite-file.ts";
import { ASSUMED_TRUST } from "../../config/trust/recorded-trust.ts";
import { isSuiteFile } from "../../config/suite/suite-names.ts";
import { readTextFile } from "../../config/yaml/text-file.ts";
import { readYaml } from "../../config/yaml/yaml-file.ts";
import { CapstanError, ERROR_CODES } from "../../core/errors.ts";
import type { Suite } from "../../core/suite/suite.ts";
import { cassetteDirectory } from "../../eval/compare/cassette-files.ts";
import { type StaleCassette, staleCassettes } from "../../eval/compare/stale-cassettes.ts";
import { usageError } from "../terminal/failure.ts";
import { EXIT_INTERRUPTED } from "../terminal/interrupt.ts";
import { localPrompts } from "../ask/local-prompts.ts";
import { color } from "../terminal/text.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

export interface PruneFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Removes cassettes that no case would replay. Returns the exit code. */
export async function pruneCassettes(paths: readonly string[], flags: PruneFlags): Promise<number> {
  const { dryRun = false, yes = false, json = false } = flags;
  const { stale, others, problems } = await findStale(paths);
  for (const file of others) process.stderr.write(`capstan: ${here(file)} is not a cassette; keeping it.\n`);
  for (const problem of problems) process.stderr.write(`capstan: ${escapeHidden(problem)}\n`);
  const exitCode = problems.length > 0 ? ERROR_CODES.invalid_suite : 0;
  if (stale.length === 0) {
    if (!json) print("Nothing to remove.");
    return exitCode;
  }
  // Paths are never cut, so that they can be copied.
  if (!json) for (const { file, why } of stale) print(`${here(file)}\n  ${color.dim(escapeHidden(why))}`);
  const prompts = dryRun || yes || json ? undefined : await localPrompts();
  if (dryRun || (!yes && prompts === undefined)) {
    if (json) for (const one of stale) print(hiddenFreeJson({ ...one, removed: false }));
    process.stderr.write(`Nothing was removed.${dryRun ? "" : " To remove the listed cassettes, add --yes."}\n`);
    return dryRun ? exitCode : ERROR_CODES.approval_pending;
  }
  if (!yes) {
    const answer = await prompts?.choose(
      `Remove ${numberOf(stale)}?`,
      [
        { value: "no", label: "No" },
        { value: "yes", label: "Yes, remove" },
      ],
      { isFirst: true },
    );
    if (answer !== "yes") {
      print("Nothing was removed.");
      return answer === undefined ? EXIT_INTERRUPTED : exitCode;
    }
  }
  for (const one of stale) {
    await rm(one.file);
    if (json) print(hiddenFreeJson({ ...one, removed: true }));
  }
  await Promise.all([...new Set(stale.map(({ file }) => dirname(file)))].map(removeEmpty));
  if (!json) print(`Removed ${numberOf(stale)}.`);
  return exitCode;
}

interface Found {
  readonly stale: readonly StaleCassette[];
  /** Files that are not cassettes. */
  readonly others: readonly string[];
  /** Suites that cannot be read, so their cassettes are kept. */
  readonly problems: readonly string[];
}

async function findStale(paths: readonly string[]): Promise<Found> {
  const directories = [...new Set(paths.flatMap((path) => directoriesOf(resolve(path), path)))];
  const stale: StaleCassette[] = [];
  const others: string[] = [];
  const problems: string[] = [];
  for (const directory of directories)
    try {
      const check = await staleCassettes(directory, await suiteOf(directory));
      stale.push(...check.stale);
      others.push(...check.others);
    } catch (error) {
      if (!(error instanceof CapstanError)) throw error;
      problems.push(
        `Keeping the cassettes in ${here(directory)}, because their suite cannot be read: ${error.message}`,
      );
    }
  return { stale, others, problems };
}

/** The cassette directories of a suite, or all below a directory. */
function directoriesOf(path: string, given: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw usageError(`${given} not found. Name a suite (*.test.yaml) or a directory.`);
  if (!found.isDirectory()) return existsSync(cassetteDirectory(path)) ? [cassetteDirectory(path)] : [];
  if (basename(path) === "cassettes") return below(path);
  return below(path).flatMap((child) => (SKIPPED.has(basename(child)) ? [] : directoriesOf(child, child)));
}

const SKIPPED = new Set(["node_modules", ".git", "fixtures"]);

function below(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(directory, name))
    .toSorted();
}

/** Undefined if the suite no longer exists. */
async function suiteOf(directory: string): Promise<Suite | undefined> {
  const stem = resolve(directory, "..", "..", basename(directory));
  const file = [`${stem}.yaml`, `${stem}.yml`].find((path) => existsSync(path));
  if (file === undefined || hasNoTests(file)) return undefined;
  return (await readSuite(file, process.env, ASSUMED_TRUST)).suite;
}

/** An agent file without (or no longer with) tests. */
function hasNoTests(file: string): boolean {
  if (isSuiteFile(file)) return false;
  const code = "invalid_suite";
  const { value } = readYaml(readTextFile(file, { what: "the suite", code }), { file: here(file), code });
  return !Object.hasOwn(Object(value) as object, "tests");
}

/** Keeps a directory that still contains files. */
async function removeEmpty(directory: string): Promise<void> {
  if (readdirSync(directory).length === 0) await rmdir(directory);
}

function numberOf(stale: readonly StaleCassette[]): string {
  return stale.length === 1 ? "1 cassette" : `${stale.length} cassettes`;
}

function here(path: string): string {
  return relative(process.cwd(), path);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
