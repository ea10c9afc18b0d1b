import { createReadStream, existsSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { acceptState, type AuditLocation, readAudit, verifyAudit, verifyExport } from "../../app/audit/audit.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { homeDirectory } from "../../config/project/home.ts";
import { reasonOf } from "../../config/yaml/text-file.ts";
import type { AuditFinding, AuditReport, SessionAudit } from "../../core/session/audit.ts";
import { usageError } from "../terminal/failure.ts";
import { color, shortId } from "../terminal/text.ts";
import { writeWholeStream } from "../terminal/write-file.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

export interface VerifyFlags {
  readonly session?: string;
  readonly file?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** Exit code if the store was tampered with. */
const TAMPERED = 3;

export async function verify(flags: VerifyFlags): Promise<number> {
  if (flags.file !== undefined && flags.session !== undefined)
    throw usageError("--file and --session cannot be combined. Export only that session instead.");
  if (flags.key !== undefined && flags.file === undefined)
    throw usageError("--key requires --file: a store is checked with its own key.");
  const report = await (flags.file === undefined
    ? verifyAudit(auditLocation(), { session: flags.session })
    : verifyExport(linesOf(flags.file), flags.key));
  if (flags.json === true) for (const line of jsonLines(report)) print(hiddenFreeJson(line));
  else show(report, flags.file);
  return report.sound ? 0 : TAMPERED;
}

export interface ExportAuditFlags {
  readonly session?: string;
  readonly since?: string;
  readonly output?: string;
}

export async function exportAudit({ session, since, output }: ExportAuditFlags): Promise<void> {
  if (output !== undefined && existsSync(output))
    throw usageError(`${output} already exists. Choose another name, or remove it.`);
  const records = readAudit(auditLocation(), { session, since: since === undefined ? undefined : timeOf(since) });
  const lines = (async function* () {
    for await (const record of records) yield `${hiddenFreeJson(record)}\n`;
  })();
  if (output === undefined) for await (const line of lines) process.stdout.write(line);
  else {
    // An unwritable file is a usage error, not a failure of the store.
    await writeWholeStream(output, lines).catch((thrown: unknown) => {
      if ((thrown as NodeJS.ErrnoException).syscall !== "open") throw thrown;
      throw usageError(`Cannot write ${output}: ${reasonOf(thrown)}. Choose another name.`);
    });
    process.stderr.write(`Audit written to ${output}. To verify it: capstan audit verify --file ${output}\n`);
  }
}

export async function accept(reason: string): Promise<void> {
  if (reason.trim() === "") throw usageError("--reason is empty. Describe what happened.");
  await acceptState(auditLocation(), reason);
  print("The current state of the store is signed as legitimate. To verify it: capstan audit verify");
}

function auditLocation(): AuditLocation {
  return { home: homeDirectory(process.env).path, environment: process.env };
}

function timeOf(text: string): number {
  const date = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? Date.now() - parseDuration(text) : date;
}

function linesOf(file: string): AsyncIterable<string> {
  if (!existsSync(file)) throw usageError(`File not found: ${file}`);
  if (statSync(file).isDirectory())
    throw usageError(`${file} is a directory. Name the file that capstan audit export wrote.`);
  return createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity });
}

/** One line per session and finding, then the report. */
function* jsonLines({ sessions, findings, ...whole }: AuditReport): Generator<object> {
  for (const session of sessions) yield { type: "session", ...session };
  for (const finding of findings) yield { type: "finding", ...finding };
  yield { type: "report", ...whole, sessions: sessions.length, findings: findings.length };
}

function show({ sessions, findings, notes, sound, key_id: key, seals }: AuditReport, file?: string): void {
  for (const session of sessions) print(sessionLine(session));
  for (const finding of findings) print(findingText(finding));
  for (const note of notes) print(`${color.dim("note")} ${escapeHidden(note)}`);
  const what = `${sessions.length} ${sessions.length === 1 ? "session" : "sessions"}, ${seals} seals`;
  const by = key === null ? "no key" : `key ${key}`;
  print(
    sound
      ? `${color.green("verified")}: ${what}, ${by}`
      : `${color.red("verification failed")}: ${findings.length} ${findings.length === 1 ? "finding" : "findings"}; ${what}, ${by}`,
  );
  if (file !== undefined && sound)
    print("Ask the sender of the file for their key id through another channel, and compare it.");
}

function sessionLine({ session_id: id, status, events, unsigned, erased }: SessionAudit): string {
  const mark = status === "ok" ? color.green("✓") : color.red("✗");
  const tail = unsigned === 0 ? "" : `, the last ${unsigned} not signed yet`;
  return `${mark} ${shortId(id)} ${status}: ${events} events${tail}${erased ? ", erased" : ""}`;
}

function findingText({ session_id: id, seq, problem, remedy }: AuditFinding): string {
  const where = id === undefined ? "" : `session ${id}${seq === undefined ? "" : `, event ${seq}`}: `;
  return `${color.red("found")} ${escapeHidden(`${where}${problem}`)}\n    ${color.dim("→")} ${escapeHidden(remedy)}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
