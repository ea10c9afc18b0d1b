import { dirname } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { shownPath } from "../disk-failure.ts";
import { type IgnoreRules, ignoreRules } from "./gitignore.ts";
import type { MountRequest } from "./mount-request.ts";
import { FileChanged, openSeen, see } from "../seen-file.ts";

/** Something in a mount. Where it is and as what it appears differ below a link that is followed. */
export interface Candidate {
  /** Absolute, without a link in it. Bytes, because not every name is text. */
  readonly path: Buffer;
  /** Relative to the mount. */
  readonly at: Buffer;
}

export interface MountFilter {
  takesFile(candidate: Candidate): Promise<boolean>;
  /** `keep` makes the directory even when nothing in it is taken; `skip` does not look into it. */
  directory(candidate: Candidate): Promise<"keep" | "enter" | "skip">;
}

/** What patterns and `.gitignore` files say of the files below `root`. */
export function mountFilter({ include, exclude, settings }: MountRequest, root: Buffer): MountFilter {
  const rulesOf = settings.gitignore ? rulesBelow(root) : undefined;

  /** As what a pattern may know it: what is excluded where it really lies is excluded behind a link too. */
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

/** The rules that hold in a directory below `root`, each file read once. */
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

/** As git does, a `.gitignore` that is a link is not read. */
async function textOf(path: Buffer): Promise<string | undefined> {
  try {
    const file = await see(path);
    if (file === undefined) return undefined;
    await using handle = await openSeen(file);
    return await handle.readFile("utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (!(error instanceof FileChanged)) throw error;
    throw new CapstanError("workspace_failed", `${shownPath(path)} changed while it was read. Try again.`, {
      cause: error,
    });
  }
}
