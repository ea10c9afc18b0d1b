import { dirname } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { printablePath } from "../disk-failure.ts";
import { type IgnoreRules, ignoreRules } from "./gitignore.ts";
import type { MountRequest } from "./mount-request.ts";
import { FileChanged, openSeen, see } from "../seen-file.ts";

/** A file or directory in a mount. Its location and its name in the mount differ below a followed link. */
export interface Candidate {
  /** Absolute, with links resolved. Bytes, because not every name is text. */
  readonly path: Buffer;
  /** Relative to the mount. */
  readonly at: Buffer;
}

export interface MountFilter {
  takesFile(candidate: Candidate): Promise<boolean>;
  /** `keep` creates the directory even if nothing in it is taken; `skip` does not enter it. */
  directory(candidate: Candidate): Promise<"keep" | "enter" | "skip">;
}

/** Applies patterns and `.gitignore` files to the files below `root`. */
export function mountFilter({ include, exclude, settings }: MountRequest, root: Buffer): MountFilter {
  const rulesOf = settings.gitignore ? rulesBelow(root) : undefined;

  /** The names to match: a file excluded at its real location is also excluded behind a link. */
  function names({ path, at }: Candidate): string[] {
    const real = relative(root, path);
    const shown = at.toString();
    return real === shown ? [shown] : [shown, real];
  }
  async function isIgnored({ path }: Candidate, kind: "file" | "directory"): Promise<boolean> {
    const rules = await rulesOf?.(parentOf(path));
    return rules?.ignores(relative(root, path), kind) ?? false;
  }

  return {
    async takesFile(candidate) {
      if (!include.isEmpty && !include.matches(candidate.at.toString(), "file")) return false;
      if (names(candidate).some((name) => exclude.matches(name, "file"))) return false;
      return !(await isIgnored(candidate, "file"));
    },
    async directory(candidate) {
      const shown = candidate.at.toString();
      const included = include.isEmpty || include.matches(shown, "directory");
      if (!included && !include.mayMatchIn(shown)) return "skip";
      if (names(candidate).some((name) => exclude.matchesAllOf(name))) return "skip";
      if (await isIgnored(candidate, "directory")) return "skip";
      return included && !exclude.matches(shown, "directory") ? "keep" : "enter";
    },
  };
}

function relative(root: Buffer, path: Buffer): string {
  return path.subarray(root.length + 1).toString();
}

function parentOf(path: Buffer): Buffer {
  return Buffer.from(dirname(path.toString("latin1")), "latin1");
}

/** The rules that apply in a directory below `root`; reads each file once. */
function rulesBelow(root: Buffer): (directory: Buffer) => Promise<IgnoreRules> {
  const known = new Map<string, Promise<IgnoreRules>>();
  async function read(directory: Buffer): Promise<IgnoreRules> {
    const above = directory.equals(root) ? ignoreRules() : await rulesIn(parentOf(directory));
    const text = await textOf(Buffer.concat([directory, Buffer.from("/.gitignore")]));
    return text === undefined ? above : above.with(relative(root, directory), text);
  }
  function rulesIn(directory: Buffer): Promise<IgnoreRules> {
    const key = directory.toString("latin1");
    const rules = known.get(key) ?? read(directory);
    known.set(key, rules);
    return rules;
  }
  return rulesIn;
}

/** Like git, does not read a `.gitignore` that is a link. */
async function textOf(path: Buffer): Promise<string | undefined> {
  try {
    const file = await see(path);
    if (file === undefined) return undefined;
    await using handle = await openSeen(file);
    return await handle.readFile("utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (!(error instanceof FileChanged)) throw error;
    throw new CapstanError("workspace_failed", `${printablePath(path)} changed while it was being read. Try again.`, {
      cause: error,
    });
  }
}
