import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { agentPath } from "../../config/agent/agent-path.ts";
import { homeDirectory } from "../../config/project/home.ts";
import { KnownProjects } from "../../config/project/known-projects.ts";
import { loadConfiguration } from "../../config/load.ts";
import { findProject } from "../../config/project/project.ts";
import { isSuiteFile } from "../../config/suite/suite-names.ts";
import { TrustBook } from "../../config/trust/trust-book.ts";
import type { JudgedItem } from "../../config/trust/trust-gate.ts";
import { realPathOrSame, type TrustItem } from "../../config/trust/trust-item.ts";
import { ASSUMED_TRUST } from "../../config/trust/recorded-trust.ts";
import { KIND_WORDS, wideningText } from "../../config/trust/words.ts";
import { CapstanError } from "../../core/errors.ts";
import { usageError } from "../terminal/failure.ts";
import { localPrompts } from "../ask/local-prompts.ts";
import { table } from "../terminal/text.ts";
import { requirePerson } from "../terminal/person.ts";
import { byUser } from "./trust-flags.ts";
import { itemText, pathHere } from "./trust-view.ts";

export interface TrustCommandFlags {
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly cwd: string;
}

/** Shows what a project's files would widen, and trusts exactly what was shown. Returns the exit code. */
export async function trust(paths: readonly string[], flags: TrustCommandFlags): Promise<number> {
  await requirePerson("capstan trust");
  const book = bookHere();
  const items = (await itemsAt(paths, resolve(flags.cwd))).filter((item) => !book.isTrusted(item));
  // Previously trusted content may have contained restrictions that are gone now.
  const wide = items.filter((item) => item.widens.length > 0 || book.find(item) !== undefined);
  if (wide.length === 0) {
    // The files widen nothing. Recording them keeps their restrictions in effect if the files change.
    for (const item of items) book.add(item, byUser("capstan trust"), new Date());
    if (paths.length === 0) vouchFor(resolve(flags.cwd));
    return printItems([], flags, "Nothing to trust: these files grant nothing beyond what is already trusted.");
  }
  if (flags.json !== true) for (const item of wide) process.stdout.write(`${await itemText(item, book)}\n`);
  if (flags.yes !== true && !(await isConfirmed(wide, flags)))
    return printItems([], flags, "Nothing was trusted.", EXIT_NOT_TRUSTED);
  const by = byUser(flags.yes === true ? "capstan trust --yes" : "capstan trust");
  for (const item of items) book.add(item, by, new Date());
  return printItems(
    wide,
    flags,
    wide.map((item) => `✓ ${pathHere(item.path)} is now trusted with this content.`).join("\n"),
  );
}

/** A project without settings has nothing to trust, but becomes a known project with its own budgets. */
function vouchFor(cwd: string): void {
  const { root } = findProject(cwd, process.env);
  if (root !== undefined) knownHere().vouch(root);
}

const EXIT_NOT_TRUSTED = 2;

async function isConfirmed(items: readonly TrustItem[], { json }: TrustCommandFlags): Promise<boolean> {
  const prompts = json === true ? undefined : await localPrompts();
  if (prompts === undefined)
    throw usageError("Cannot ask for confirmation without a terminal. To trust this content, add --yes");
  const answer = await prompts.choose(items.length === 1 ? "Trust this file?" : `Trust these ${items.length} files?`, [
    { value: "no", label: "No" },
    { value: "yes", label: "Trust", hint: "exactly this content" },
  ]);
  return answer === "yes";
}

function printItems(items: readonly TrustItem[], { json }: TrustCommandFlags, text: string, code = 0): number {
  if (json === true) process.stdout.write(items.map((item) => `${JSON.stringify(jsonOf(item))}\n`).join(""));
  else process.stdout.write(`${text}\n`);
  return code;
}

function jsonOf({ kind, root, path, hash, files, widens }: TrustItem) {
  return { kind, root, path, hash, files: files.map((file) => file.path), widens: widens.map(wideningText) };
}

/** The trust items of directories (with their agent and suites), agent files and suites, without duplicates. */
export async function itemsAt(paths: readonly string[], cwd: string): Promise<readonly TrustItem[]> {
  const found: JudgedItem[] = [];
  for (const path of paths.length === 0 ? [cwd] : paths.map((one) => resolve(cwd, one)))
    found.push(...(await itemsOf(path, cwd)));
  return [...new Map(found.map(({ item }) => [item.hash, item])).values()];
}

async function itemsOf(path: string, cwd: string): Promise<readonly JudgedItem[]> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw usageError(`${path} not found. Name a directory, an agent file or a suite.`);
  if (stats.isDirectory()) return itemsInDirectory(path);
  // These files belong to the project of the directory.
  if (/(?:^|\/)(?:\.env|\.capstan\/config\.yaml)$/.test(path)) {
    const all = await itemsWith(path.endsWith(".env") ? dirname(path) : dirname(dirname(path)));
    return all.filter(({ item }) => realPathOrSame(item.path) === realPathOrSame(path));
  }
  return isSuiteFile(path) ? itemsOfSuite(path) : [...(await itemsWith(cwd, path)), ...(await suiteInside(path))];
}

async function itemsInDirectory(directory: string): Promise<readonly JudgedItem[]> {
  const { readdirSync } = process.getBuiltinModule("node:fs");
  const agent = agentPath(directory);
  const suites = readdirSync(directory)
    .map((name) => join(directory, name))
    .filter((file) => isSuiteFile(file) && statSync(file, { throwIfNoEntry: false })?.isFile() === true);
  const isAgent = statSync(agent, { throwIfNoEntry: false })?.isFile() === true;
  const found = [
    ...(await itemsWith(directory, isAgent ? agent : undefined)),
    ...(isAgent ? await suiteInside(agent) : []),
  ];
  for (const suite of suites) found.push(...(await itemsOfSuite(suite)));
  return found;
}

async function itemsWith(cwd: string, agentFile?: string): Promise<readonly JudgedItem[]> {
  const options = { cwd, environment: process.env, flags: {}, agentFile, trust: ASSUMED_TRUST };
  return (await loadConfiguration(options)).trust;
}

async function itemsOfSuite(path: string): Promise<readonly JudgedItem[]> {
  const { readSuite } = await import("../../config/suite/suite-file.ts");
  return (await readSuite(path, process.env, ASSUMED_TRUST)).trust;
}

/** The suite under `tests:` of an agent file. */
async function suiteInside(agentFile: string): Promise<readonly JudgedItem[]> {
  const options = { cwd: dirname(agentFile), environment: process.env, flags: {}, agentFile, trust: ASSUMED_TRUST };
  const { agentFile: read } = await loadConfiguration(options);
  return read?.hasTests === true ? itemsOfSuite(agentFile) : [];
}

export function listTrust({ json }: { readonly json?: boolean }): void {
  const records = bookHere().list();
  if (json === true) {
    for (const { files, version: _, ...record } of records)
      process.stdout.write(`${JSON.stringify({ ...record, files: files.map(({ path }) => path) })}\n`);
    return;
  }
  if (records.length === 0) return void process.stdout.write("No trusted files yet. See: capstan trust --help\n");
  const rows = records.map(({ kind, trusted_at: at, by, path }) => [KIND_WORDS[kind], at.slice(0, 10), by, path]);
  process.stdout.write(`${table(["KIND", "SINCE", "BY", "FILE"], rows, { atLeast: Infinity })}\n`);
}

/** Ends the effect of what these files widen, and of the restrictions in their trusted content. */
export async function revokeTrust(
  paths: readonly string[],
  { all, json }: { readonly all?: boolean; readonly json?: boolean },
): Promise<void> {
  await requirePerson("capstan trust revoke", "revoke trust");
  const book = bookHere();
  const wanted = paths.map((path) => resolve(path));
  if (wanted.length === 0 && all !== true) throw usageError("Name the files or directories, or use --all.");
  const records = book
    .list()
    .filter(({ path, root }) => all === true || wanted.includes(path) || wanted.includes(root));
  const forgotten = wanted.filter((directory) => knownHere().forget(realPathOrSame(directory)));
  if (records.length === 0 && forgotten.length === 0)
    throw new CapstanError("not_found", "None of these is trusted. To list trusted files: capstan trust list");
  for (const record of records) book.remove(record);
  if (json === true)
    process.stdout.write(
      records.map(({ kind, path }) => `${JSON.stringify({ kind, path, revoked: true })}\n`).join(""),
    );
  else process.stdout.write(records.map(({ path }) => `✓ ${pathHere(path)} is no longer trusted.\n`).join(""));
}

function knownHere(): KnownProjects {
  return new KnownProjects(homeDirectory(process.env).path);
}

function bookHere(): TrustBook {
  return new TrustBook(homeDirectory(process.env).path);
}
