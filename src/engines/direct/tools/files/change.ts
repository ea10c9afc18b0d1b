import { constants, ftruncateSync, writeSync } from "node:fs";
import type { BuiltinCall } from "../builtin-tool.ts";
import { MAX_TEXT_BYTES } from "./lines.ts";
import { sizeText } from "./media.ts";
import { bytesOf, openExisting, openFile, type OpenFile, inputRefusal } from "./open-file.ts";
import type { SeenFiles } from "./seen-files.ts";
import { decodeText, encodeText, PLAIN, type TextFile } from "./text.ts";

export const KNOWN = " (file state is current in your context — no need to Read it back)";

/** Shared by the tools that change files. */
export interface ChangeParts {
  readonly seen: SeenFiles;
}

/** A file that is about to be changed, with its current content. */
export interface ChangingFile extends Disposable {
  readonly before: TextFile;
  /** Note for the result: says that the model knows the whole file, if it does. */
  readonly known: string;
  /** Writes a changed text, keeping the file's encoding and line endings. */
  update(text: string): void;
  /** Writes a new text, keeping the file's encoding. The model then knows the whole file. */
  replace(text: string): void;
}

interface Target {
  readonly real: string;
  readonly named: string;
  readonly call: Pick<BuiltinCall, "threadId">;
}

/** Opens a file to change it; undefined if it does not exist. Throws if the model has not seen its content. */
export async function openToChange(
  { real, named, call }: Target,
  { seen }: ChangeParts,
): Promise<ChangingFile | undefined> {
  const file = openExisting(real, named, constants.O_RDWR);
  if (file === undefined) return undefined;
  try {
    if (file.stats.size > MAX_TEXT_BYTES)
      throw inputRefusal(
        `${named} is ${sizeText(file.stats.size)}; only files up to ${sizeText(MAX_TEXT_BYTES)} can be changed. Use a shell command.`,
      );
    const bytes = await bytesOf(file);
    const state = seen.state(call.threadId, real, bytes);
    if (state === "unseen") throw inputRefusal("File has not been read yet. Read it first before writing to it.");
    if (state === "changed")
      throw inputRefusal(
        "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.",
      );
    const before = decodeText(bytes);
    if (before.flaw !== undefined)
      throw inputRefusal(
        `${named} is not valid UTF-8, or has NUL bytes: it would be damaged. Change it with a shell command that keeps its encoding, or ask the user whether to convert it to UTF-8.`,
      );
    const write = (
      text: string,
      { carriageReturns, isWhole }: { carriageReturns: boolean; isWhole: boolean },
    ): void => {
      const after = encodeText(text, { ...before, carriageReturns });
      overwrite(file, after);
      seen.note(call.threadId, real, { bytes: after, isWhole });
    };
    const isWhole = state === "whole";
    return {
      before,
      known: isWhole ? KNOWN : "",
      update: (text) => write(text, { carriageReturns: before.carriageReturns, isWhole }),
      replace: (text) => write(text, { carriageReturns: false, isWhole: true }),
      [Symbol.dispose]: () => file[Symbol.dispose](),
    };
  } catch (thrown) {
    file[Symbol.dispose]();
    throw thrown;
  }
}

/** Creates a file and its missing directories. Rejects if the file already exists. */
export function createFile({ real, named, call }: Target, text: string, { seen }: ChangeParts): void {
  using file = openFile(real, named, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  const bytes = encodeText(text, PLAIN);
  overwrite(file, bytes);
  seen.note(call.threadId, real, { bytes, isWhole: true });
}

/** In place, so that the file keeps its owner, permissions and hard links. */
function overwrite({ descriptor }: OpenFile, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(descriptor, bytes, written, bytes.length - written, written);
  ftruncateSync(descriptor, bytes.length);
}
