import { closeSync, constants, fstatSync, read, readSync, type Stats } from "node:fs";
import { promisify } from "node:util";
import { isInside } from "../../../../core/paths/inside.ts";
import { messageOf } from "../../../../core/errors.ts";
import { type BuiltinCall, type BuiltinOutcome, textOutcome } from "../builtin-tool.ts";
import { codeOf, openPinned } from "../../../../process/pinned.ts";

/** What a tool says when it cannot do what it was asked to. Refusals of the input are marked for the model. */
export class ToolFailure extends Error {}

/** The input is at fault, and nothing was tried. */
export function refused(text: string): ToolFailure {
  return new ToolFailure(`<tool_use_error>${text}</tool_use_error>`);
}

/** Runs a tool so that whatever goes wrong is an outcome. */
export async function outcomeOf(run: () => BuiltinOutcome | Promise<BuiltinOutcome>): Promise<BuiltinOutcome> {
  try {
    return await run();
  } catch (thrown) {
    return textOutcome(messageOf(thrown), true);
  }
}

/** The one place that was permitted, without links. */
export function permittedPlace({ places = [] }: Pick<BuiltinCall, "places">, access: "read" | "write"): string {
  const reals = new Set(places.filter((place) => place.access === access).map(({ real }) => real));
  const [real] = reals;
  if (real === undefined || reals.size > 1) throw new ToolFailure("Not run: which file was permitted is not known.");
  return real;
}

/** What processes say of themselves. Here that is the host, whose variables hold its keys. */
const OF_PROCESSES = "/proc";

/** Throws for what no file tool may look into, whatever was permitted. */
export function requireOrdinary(real: string, named: string): void {
  if (isInside(real, OF_PROCESSES)) throw noFile(named);
}

export interface OpenFile extends Disposable {
  readonly descriptor: number;
  readonly stats: Stats;
}

/** Opens a plain file at exactly this place. `named` is what the model called it. */
export function openFile(real: string, named: string, flags: number = constants.O_RDONLY): OpenFile {
  requireOrdinary(real, named);
  const descriptor = openPinned(real, flags);
  try {
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) throw isDirectory(named);
    if (!stats.isFile()) throw noFile(named);
    return { descriptor, stats, [Symbol.dispose]: () => closeSync(descriptor) };
  } catch (thrown) {
    closeSync(descriptor);
    throw thrown;
  }
}

/** The same, or undefined when there is no such file. */
export function openExisting(real: string, named: string, flags?: number): OpenFile | undefined {
  try {
    return openFile(real, named, flags);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw codeOf(thrown) === "EISDIR" ? isDirectory(named) : thrown;
  }
}

const readInto = promisify(read);
/** So few bytes are there sooner than a thread that would read them. */
const SMALL = 65_536;

/** The bytes from `position` on, at most `most`. A file that grows meanwhile is not followed. */
export async function bytesOf(
  { descriptor, stats }: OpenFile,
  { position = 0, most = Infinity }: { readonly position?: number; readonly most?: number } = {},
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(stats.size - position, most)));
  let length = 0;
  while (length < buffer.length) {
    const range = [length, buffer.length - length, position + length] as const;
    const bytesRead =
      buffer.length <= SMALL
        ? readSync(descriptor, buffer, ...range)
        : (await readInto(descriptor, buffer, ...range)).bytesRead;
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function noFile(named: string): ToolFailure {
  return refused(`Cannot read '${named}': this path names a device or process file that this tool does not read.`);
}

function isDirectory(named: string): ToolFailure {
  return new ToolFailure(`EISDIR: illegal operation on a directory, read '${named}'`);
}
