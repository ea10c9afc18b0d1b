import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../../core/errors.ts";
import { pathText, writePatch } from "./diff-view.ts";
import { usage } from "../terminal/failure.ts";
import { shortId } from "../terminal/text.ts";
import { writeWholeFile } from "../terminal/whole-file.ts";
import { type CommandFiles, sessionFiles } from "../target/workspaces-session.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface ExportFlags {
  readonly patch?: string;
  readonly zip?: string;
  /** `true`: under the usual name. */
  readonly branch?: string | true;
  readonly json?: boolean;
}

const STDOUT = "-";

export async function exportFiles(given: string | undefined, flags: ExportFlags): Promise<void> {
  const { patch, zip, branch, json = false } = flags;
  if ([patch, zip, branch].filter((way) => way !== undefined).length !== 1)
    throw usage("Say how, in one way: --patch FILE (- for standard output), --zip FILE or --branch [NAME].");
  if (patch === STDOUT && json) throw usage("--patch - and --json exclude each other. Name a file for the patch.");
  for (const file of [patch, zip])
    if (file !== undefined && file !== STDOUT && existsSync(file))
      throw usage(`${file} is there already. Choose another name, or remove it.`);
  await using opened = await sessionFiles(given);
  const { files, sessionId } = opened;
  const session = shortId(sessionId);
  const tell = (told: Readonly<Record<string, string | readonly string[]>>, text: string): void =>
    void process.stdout.write(`${json ? hiddenFreeJson({ sessionId, ...told }) : text}\n`);
  if (patch === STDOUT) await files.exportPatch(sessionId, STDOUT, async (bytes) => writePatch(bytes));
  else if (patch !== undefined) {
    await patchFile(files, sessionId, resolve(patch));
    tell(
      { how: "patch", file: resolve(patch) },
      `The changes of session ${session} are in ${patch}. Use them with: git apply ${patch}`,
    );
  } else if (zip !== undefined) {
    await files.exportZip(sessionId, resolve(zip));
    tell({ how: "zip", file: resolve(zip) }, `The files of session ${session} are in ${zip}.`);
  } else {
    const name = typeof branch === "string" ? { branch } : {};
    const made = await files.exportBranch(sessionId, name);
    // A person knows the repository by the directory it is in.
    const place = made.repository.replace(/\/\.git$/, "");
    tell(
      { how: "branch", ...made },
      `The changes of session ${session} are on the branch ${made.branch} of ${place}.\nSee them with: git -C ${place} show ${made.branch}${skippedText(made.skipped)}`,
    );
  }
}

const NAMED = 10;

function skippedText(skipped: readonly string[]): string {
  if (skipped.length === 0) return "";
  const more = skipped.length - NAMED;
  const names = skipped.slice(0, NAMED).map(pathText).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return `\nNot on it, because git ignores them there or they are of a submodule: ${names}.\nThey are not exported yet. Take all changes with --patch, or all files with --zip.`;
}

/** Made only when the patch is there, which must not hold itself. Nothing counts as exported that did not reach the disk. */
async function patchFile(files: CommandFiles, sessionId: string, file: string): Promise<void> {
  await files.exportPatch(sessionId, file, async (patch) => {
    // Never over a file that is there, however late it came. It holds what the agent wrote: for its owner alone.
    await writeWholeFile(file, (handle) => handle.writeFile(patch)).catch((thrown: unknown) => {
      throw usage(`${file} cannot be written: ${messageOf(thrown)}. Name another file.`);
    });
  });
}
