import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import ignore from "ignore";
import { messageOf } from "../../core/errors.ts";
import type { GraderParams } from "../../core/suite/grader-schema.ts";
import { allOf, failedWith, type Finding, GraderError, passedWith, type GraderContext } from "./grader.ts";
import { checkText } from "./text.ts";
import { diffOf } from "./similarity/words.ts";
import { readContent, findWorkspaceFile, type WorkspaceFile } from "./workspace-file.ts";

/** Graders for the workspace. */

const LISTED = 20;

export async function gradeFiles(given: GraderParams<"files">, { facts }: GraderContext): Promise<Finding> {
  const at = (path: string): Promise<WorkspaceFile> => findWorkspaceFile(facts.workspace, path);
  const findings: Finding[] = [];
  for (const path of given.exist ?? []) findings.push(isThere(path, await at(path)));
  for (const path of given.missing ?? []) findings.push(isMissing(path, await at(path)));
  for (const [path, check] of Object.entries(given.content ?? {}))
    findings.push(
      await withContent(path, await at(path), (content) => checkText(path, content.toString("utf8"), check)),
    );
  for (const [path, other] of Object.entries(given.same_as ?? {})) {
    const expected = await readBeside(resolve(dirname(facts.suiteFile), other));
    findings.push(await withContent(path, await at(path), (content) => isSame({ path, other }, expected, content)));
  }
  return allOf(findings);
}

function isThere(path: string, found: WorkspaceFile): Finding {
  if (found.kind === "missing" || found.kind === "link")
    return failedWith(`expected ${path} to exist (found ${whatIs(found)})`);
  return passedWith(`${path} exists`);
}

function isMissing(path: string, found: WorkspaceFile): Finding {
  if (found.kind === "missing") return passedWith(`${path} does not exist`);
  return failedWith(`expected ${path} not to exist (found ${whatIs(found)})`);
}

async function withContent(path: string, found: WorkspaceFile, check: (content: Buffer) => Finding): Promise<Finding> {
  if (found.kind === "file") return check(await readContent(found));
  return failedWith(`expected ${path} to be a file (found ${whatIs(found)})`);
}

function whatIs(found: WorkspaceFile): string {
  if (found.kind === "missing") return "nothing there";
  if (found.kind === "link") return found.why;
  return found.kind === "other" ? "neither a file nor a directory" : `a ${found.kind}`;
}

function isSame({ path, other }: { path: string; other: string }, expected: Buffer, found: Buffer): Finding {
  if (found.equals(expected)) return passedWith(`${path} is the same as ${other}`);
  const isText = !expected.includes(0) && !found.includes(0);
  return failedWith(
    `expected ${path} to be the same as ${other} (found ${found.length} bytes that differ from its ${expected.length})`,
    isText ? diffOf(expected.toString("utf8"), found.toString("utf8")) : undefined,
  );
}

async function readBeside(file: string): Promise<Buffer> {
  return readFile(file).catch((thrown: unknown) => {
    throw new GraderError(`the file ${file} cannot be read: ${messageOf(thrown)}`);
  });
}

export function gradeDiff(given: GraderParams<"diff">, { facts }: GraderContext): Finding {
  return checkText("the diff", facts.diff, given);
}

export function gradeOnlyChanged(given: GraderParams<"only_changed">, { facts }: GraderContext): Finding {
  const expected = ignore().add(given);
  const others = facts.changes.filter(({ path }) => !expected.ignores(path));
  if (others.length === 0) return passedWith(`nothing changed except ${given.join(", ") || "nothing"}`);
  const more = others.length > LISTED ? ` and ${others.length - LISTED} more` : "";
  const list = others.slice(0, LISTED).map(({ path, kind }) => `${path} (${kind})`);
  return failedWith(
    `expected ${given.length === 0 ? "no file to change" : `only ${given.join(", ")} to change`} (found ${list.join(", ")}${more})`,
  );
}
