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

/** The reports by their `--report` names. */
export const REPORTS = {
  junit: { file: "junit.xml", make: junitReport },
  json: { file: "report.json", make: jsonReport },
  md: { file: "report.md", make: markdownReport },
  html: { file: "report.html", make: htmlReport },
} as const satisfies Record<string, { readonly file: string; readonly make: (run: SuiteRun) => string }>;

type ReportName = keyof typeof REPORTS;

/** The default directory of reports. */
const REPORT_DIRECTORY = "capstan-report";

export interface WantedReport {
  readonly name: ReportName;
  /** The path of the file. */
  readonly path: string;
}

/**
 * Parses `junit`, `html=path/x.html` and `html=directory/`. Throws for an unknown report, and for two with the same
 * file.
 */
export function wantedReports(words: readonly string[]): readonly WantedReport[] {
  const wanted = words.map(wantedReport);
  for (const [index, { path }] of wanted.entries())
    if (wanted.findIndex((other) => resolve(other.path) === resolve(path)) !== index)
      throw wrong(`two reports would be written to ${path}. Use a separate file for each: json=a.json,html=b.html`);
  return wanted;
}

function wantedReport(word: string): WantedReport {
  const split = word.indexOf("=");
  const name = split === -1 ? word : word.slice(0, split);
  if (!isReport(name))
    throw wrong(`Unknown report ${JSON.stringify(name)}. Use one of: ${Object.keys(REPORTS).join(", ")}.`);
  const path = split === -1 ? join(REPORT_DIRECTORY, REPORTS[name].file) : word.slice(split + 1);
  if (path === "") throw wrong(`${word} names no file. Write ${name}=FILE, or only ${name}.`);
  return { name, path: isDirectory(path) ? join(path, REPORTS[name].file) : path };
}

function isDirectory(path: string): boolean {
  try {
    return path.endsWith("/") || statSync(path).isDirectory();
  } catch {
    // A missing directory is created, and an unreadable one is reported when it cannot be written.
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
  /** Includes reports that could not be written as problems, and the resulting exit code. */
  readonly run: SuiteRun;
  readonly written: readonly string[];
  readonly problems: readonly string[];
}

/** Writes each report, even if others fail. Those written later include the failures. */
export async function writeReports(run: SuiteRun, wanted: readonly WantedReport[]): Promise<WrittenReports> {
  const problems: string[] = [];
  const good: WantedReport[] = [];
  for (const one of wanted)
    try {
      await writeReport(run, one);
      good.push(one);
    } catch (error) {
      problems.push(
        `The ${one.name} report could not be written to ${one.path}: ${messageOf(error)}. Use another path: --report ${one.name}=FILE`,
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

/** Writes all or nothing. Writes directly to anything that is not a regular file, such as /dev/stdout. */
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

/**
 * Creates parents one by one: Node's recursive mkdir never ends if a directory is missing and cannot be created, as in
 * /proc.
 */
async function makeDirectory(path: string): Promise<void> {
  await mkdir(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") return;
    if (error.code !== "ENOENT" || dirname(path) === path) throw error;
    await makeDirectory(dirname(path));
    await mkdir(path);
  });
}
