import { closeSync, constants, fstatSync, read, readSync, type Stats } from "node:fs";
import { promisify } from "node:util";
import { isInside } from "../../../../core/paths/is-inside.ts";
import { messageOf } from "../../../../core/errors.ts";
import { type BuiltinCall, type BuiltinOutcome, textOutcome } from "../builtin-tool.ts";
import { codeOf, openPinned } from "../../../../process/pinned.ts";

/** A failure that a tool reports. Refused inputs are marked for the model. */
export class ToolFailure extends Error {}

/** The input is wrong, and nothing was attempted. */
export function inputRefusal(text: string): ToolFailure {
  return new ToolFailure(`<tool_use_error>${text}</tool_use_error>`);
}

/** Runs a tool and turns every failure into an outcome. */
export async function runForOutcome(run: () => BuiltinOutcome | Promise<BuiltinOutcome>): Promise<BuiltinOutcome> {
  try {
    return await run();
  } catch (thrown) {
    return textOutcome(messageOf(thrown), true);
  }
}

/** The one permitted path, with links resolved. */
export function permittedPath({ places = [] }: Pick<BuiltinCall, "places">, access: "read" | "write"): string {
  const reals = new Set(places.filter((place) => place.access === access).map(({ real }) => real));
  const [real] = reals;
  if (real === undefined || reals.size > 1) throw new ToolFailure("Not run: the permitted file is unknown.");
  return real;
}

/** Process information. Here that includes the host, whose variables contain its keys. */
const OF_PROCESSES = "/proc";

/** Throws for paths that no file tool may read, whatever was permitted. */
export function requireOrdinary(real: string, named: string): void {
  if (isInside(real, OF_PROCESSES)) throw noFile(named);
}

export interface OpenFile extends Disposable {
  readonly descriptor: number;
  readonly stats: Stats;
}

/** Opens a regular file at exactly this path. `named` is the model's name for it. */
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

/** The same, or undefined if the file does not exist. */
export function openExisting(real: string, named: string, flags?: number): OpenFile | undefined {
  try {
    return openFile(real, named, flags);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw codeOf(thrown) === "EISDIR" ? isDirectory(named) : thrown;
  }
}

const readInto = promisify(read);
/** For so few bytes, a synchronous read is faster than a thread. */
const SMALL = 65_536;

/** The bytes from `position` on, at most `most`. Ignores what is appended meanwhile. */
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
  return inputRefusal(`Cannot read '${named}': this path names a device or process file that this tool does not read.`);
}

function isDirectory(named: string): ToolFailure {
  return new ToolFailure(`EISDIR: illegal operation on a directory, read '${named}'`);
}
