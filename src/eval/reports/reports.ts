import { statSync } from "node:fs";
import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { SuiteRun } from "../../core/suite/suite-run.ts";
import { exitCodeOf } from "../run.ts";
import { htmlReport } from "./html.ts";
import { jsonReport } from "./json.ts";
import { junitReport } from "./junit.ts";
import { markdownReport } from "./markdown.ts";

/** The reports by the names that `--report` knows. */
export const REPORTS = {
  junit: { file: "junit.xml", make: junitReport },
  json: { file: "report.json", make: jsonReport },
  md: { file: "report.md", make: markdownReport },
  html: { file: "report.html", make: htmlReport },
} as const satisfies Record<string, { readonly file: string; readonly make: (run: SuiteRun) => string }>;

type ReportName = keyof typeof REPORTS;

/** Where reports go that are given no place. */
const REPORT_DIRECTORY = "capstan-report";

export interface WantedReport {
  readonly name: ReportName;
  /** Of the file. */
  readonly path: string;
}

/** Reads `junit`, `html=path/x.html` and `html=directory/`. Throws for what is no report, and two that would be one file. */
export function wantedReports(words: readonly string[]): readonly WantedReport[] {
  const wanted = words.map(wantedReport);
  for (const [index, { path }] of wanted.entries())
    if (wanted.findIndex((other) => resolve(other.path) === resolve(path)) !== index)
      throw wrong(`two reports would be written to ${path}. Give each a file of its own: json=a.json,html=b.html`);
  return wanted;
}

function wantedReport(word: string): WantedReport {
  const split = word.indexOf("=");
  const name = split === -1 ? word : word.slice(0, split);
  if (!isReport(name))
    throw wrong(`there is no report ${JSON.stringify(name)}. There are ${Object.keys(REPORTS).join(", ")}.`);
  const path = split === -1 ? join(REPORT_DIRECTORY, REPORTS[name].file) : word.slice(split + 1);
  if (path === "") throw wrong(`${word} names no file. Write ${name}=FILE, or ${name} alone.`);
  return { name, path: isDirectory(path) ? join(path, REPORTS[name].file) : path };
}

function isDirectory(path: string): boolean {
  try {
    return path.endsWith("/") || statSync(path).isDirectory();
  } catch {
    // What is not there is made, and what may not be looked at is told when it cannot be written.
    return false;
  }
}

function isReport(name: string): name is ReportName {
  return Object.hasOwn(REPORTS, name);
}

function wrong(what: string): CapstanError {
  return new CapstanError("invalid_input", `--report: ${what}`);
}

export interface WrittenReports {
  /** With what could not be written among its problems, and the exit code that goes with that. */
  readonly run: SuiteRun;
  readonly written: readonly string[];
  readonly problems: readonly string[];
}

/** Writes each report, whatever becomes of the others. Those that were written tell of those that could not be. */
export async function writeReports(run: SuiteRun, wanted: readonly WantedReport[]): Promise<WrittenReports> {
  const problems: string[] = [];
  const good: WantedReport[] = [];
  for (const one of wanted)
    try {
      await writeReport(run, one);
      good.push(one);
    } catch (error) {
      problems.push(
        `The ${one.name} report could not be written to ${one.path}: ${messageOf(error)}. Choose another place: --report ${one.name}=FILE`,
      );
    }
  const written = good.map(({ path }) => path);
  if (problems.length === 0) return { run, written, problems };
  const all = [...run.problems, ...problems];
  const told: SuiteRun = { ...run, problems: all, exitCode: exitCodeOf(run.suites, all) };
  for (const one of good) await writeReport(told, one);
  return { run: told, written, problems };
}

async function writeReport(run: SuiteRun, { name, path }: WantedReport): Promise<void> {
  const text = REPORTS[name].make(run);
  await replaceFile(path, text).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    await makeDirectory(dirname(path));
    await replaceFile(path, text);
  });
}

/** Whole or not at all. What is no plain file, such as /dev/stdout, is written to as it is. */
async function replaceFile(path: string, text: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there?.isFile() === false) return writeFile(path, text);
  const partial = `${path}.${process.pid}.partial`;
  try {
    await writeFile(partial, text, { flush: true, ...(there && { mode: there.mode }) });
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

/** One by one: Node's own way never ends where a directory is said not to be there and cannot be made, as in /proc. */
async function makeDirectory(path: string): Promise<void> {
  await mkdir(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") return;
    if (error.code !== "ENOENT" || dirname(path) === path) throw error;
    await makeDirectory(dirname(path));
    await mkdir(path);
  });
}
