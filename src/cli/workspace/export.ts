import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../../core/errors.ts";
import { pathText, writePatch } from "./diff-view.ts";
import { usageError } from "../terminal/failure.ts";
import { shortId } from "../terminal/text.ts";
import { writeWholeFile } from "../terminal/write-file.ts";
import { type CommandFiles, sessionFiles } from "../target/workspaces-session.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface ExportWorkspaceFlags {
  readonly patch?: string;
  readonly zip?: string;
  /** `true`: the default name. */
  readonly branch?: string | true;
  readonly json?: boolean;
}

const STDOUT = "-";

export async function exportFiles(given: string | undefined, flags: ExportWorkspaceFlags): Promise<void> {
  const { patch, zip, branch, json = false } = flags;
  if ([patch, zip, branch].filter((way) => way !== undefined).length !== 1)
    throw usageError("Choose one format: --patch FILE (- for standard output), --zip FILE or --branch [NAME].");
  if (patch === STDOUT && json) throw usageError("--patch - and --json cannot be combined. Name a file for the patch.");
  for (const file of [patch, zip])
    if (file !== undefined && file !== STDOUT && existsSync(file))
      throw usageError(`${file} already exists. Choose another name, or remove it.`);
  await using opened = await sessionFiles(given);
  const { files, sessionId } = opened;
  const session = shortId(sessionId);
  const report = (data: Readonly<Record<string, string | readonly string[]>>, text: string): void =>
    void process.stdout.write(`${json ? hiddenFreeJson({ sessionId, ...data }) : text}\n`);
  if (patch === STDOUT) await files.exportPatch(sessionId, STDOUT, async (bytes) => writePatch(bytes));
  else if (patch !== undefined) {
    await writePatchFile(files, sessionId, resolve(patch));
    report(
      { how: "patch", file: resolve(patch) },
      `Changes of session ${session} written to ${patch}. To apply them: git apply ${patch}`,
    );
  } else if (zip !== undefined) {
    await files.exportZip(sessionId, resolve(zip));
    report({ how: "zip", file: resolve(zip) }, `Files of session ${session} written to ${zip}.`);
  } else {
    const name = typeof branch === "string" ? { branch } : {};
    const exported = await files.exportBranch(sessionId, name);
    // People know a repository by its directory.
    const place = exported.repository.replace(/\/\.git$/, "");
    report(
      { how: "branch", ...exported },
      `Changes of session ${session} committed to branch ${exported.branch} of ${place}.\nTo see them: git -C ${place} show ${exported.branch}${skippedText(exported.skipped)}`,
    );
  }
}

const NAMED = 10;

function skippedText(skipped: readonly string[]): string {
  if (skipped.length === 0) return "";
  const more = skipped.length - NAMED;
  const names = skipped.slice(0, NAMED).map(pathText).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return `\nNot on the branch, because git ignores them or they belong to a submodule: ${names}.\nTo export them too, use --patch (all changes) or --zip (all files).`;
}

/** Writes the file after the patch is computed, so that it is not part of it. Changes count as exported once they are on disk. */
async function writePatchFile(files: CommandFiles, sessionId: string, file: string): Promise<void> {
  await files.exportPatch(sessionId, file, async (patch) => {
    // Never overwrites a file. Readable only by its owner, because it contains the agent's work.
    await writeWholeFile(file, (handle) => handle.writeFile(patch)).catch((thrown: unknown) => {
      throw usageError(`Cannot write ${file}: ${messageOf(thrown)}. Choose another file.`);
    });
  });
}
