import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { WorkLimits } from "../../core/ports/workspace.ts";
import { git, type GitOptions, type GitOutput } from "../git.ts";

/** Runs all git commands on the checkpoints of one workspace. */
export interface ShadowRepository {
  /** `checkpoints.git` of the session. */
  readonly path: string;
  /** The root of the workspace: the work tree of this repository. */
  readonly workTree: string;
  /** The patterns of excluded files, for `--exclude-from`. */
  readonly excludeFile: string;
  git(args: readonly string[], options?: ShadowOptions): Promise<GitOutput>;
  /**
   * Creates the repository if it does not exist. True if its exclusions have changed, which makes existing indexes
   * useless.
   */
  prepare(): Promise<boolean>;
}

interface ShadowOptions extends Pick<GitOptions, "input" | "accept" | "dieWithHost" | "outputFile"> {
  /** Path of the index, for commands that need one. */
  readonly index?: string;
  /** Protocols that git may use, as in `GIT_ALLOW_PROTOCOL`. Default: none. */
  readonly protocols?: string;
}

interface ShadowRequest {
  readonly directory: string;
  readonly workTree: string;
  readonly exclude: readonly string[];
  /** For every command. */
  readonly limits?: WorkLimits | undefined;
}

export const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/**
 * Files are saved and restored byte for byte, whatever the workspace's own files say: these attributes override every
 * `.gitattributes`. `-working-tree-encoding` would be correct but crashes git.
 */
const ATTRIBUTES =
  "* -text !eol !crlf -ident !filter !working-tree-encoding !diff !merge !whitespace !export-ignore !export-subst\n";

/** Independent of the machine, except that the host's file system supports modes and links. */
const CONFIG = `[core]
\trepositoryformatversion = 0
\tbare = false
\tfilemode = true
\tsymlinks = true
\tignorecase = false
\tprecomposeunicode = false
\tprotectHFS = false
\tprotectNTFS = false
\tautocrlf = false
\tsafecrlf = false
\tfsmonitor = false
\tuntrackedCache = false
\ttrustctime = true
\thooksPath = /dev/null
\tcompression = 1
[index]
\tversion = 2
\tskipHash = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[uploadpack]
\tallowAnySHA1InWant = true
`;

export function shadowRepository({ directory, workTree, exclude, limits }: ShadowRequest): ShadowRepository {
  const path = join(directory, "checkpoints.git");
  const excludeFile = join(path, "exclude");
  const patterns = [...exclude, ...ownDirectory(directory, workTree)].map((pattern) => `${pattern}\n`).join("");
  return {
    path,
    workTree,
    excludeFile,
    git: (args, { index, protocols, ...options } = {}) =>
      git(args, {
        ...options,
        signal: limits?.signal,
        maxOutput: options.outputFile === undefined ? limits?.maxBytes : limits?.maxFileBytes,
        cwd: workTree,
        environment: {
          GIT_DIR: path,
          GIT_WORK_TREE: workTree,
          // Even commands that do not need an index read it, and fail if it is damaged.
          GIT_INDEX_FILE: index ?? join(path, "no-index"),
          ...(protocols === undefined ? {} : { GIT_ALLOW_PROTOCOL: protocols }),
        },
      }),
    async prepare() {
      const before = await readFile(excludeFile, "utf8").catch(() => undefined);
      if (before === patterns) return false;
      if (before === undefined) await make(directory, path);
      await replaceFile(excludeFile, patterns);
      return true;
    },
  };
}

/** Created under another name and renamed, because a partial repository would look complete. */
async function make(directory: string, path: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const aside = `${path}.${randomName()}`;
  try {
    await git(["init", "--quiet", "--bare", "--template=", aside], { cwd: directory });
    await chmod(aside, 0o700);
    await mkdir(join(aside, "info"), { recursive: true });
    await writeFile(join(aside, "info", "attributes"), ATTRIBUTES);
    await writeFile(join(aside, "config"), CONFIG);
    await rename(aside, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Excludes Capstan's own files if the workspace is a directory above them. */
function ownDirectory(directory: string, workTree: string): string[] {
  const path = relative(workTree, directory);
  if (path === "" || path.startsWith("..")) return [];
  return [`/${path.replace(/[\\*?[\]!# ]/g, String.raw`\$&`)}/`];
}

async function replaceFile(file: string, content: string): Promise<void> {
  const aside = `${file}.${randomName()}`;
  await writeFile(aside, content);
  await rename(aside, file);
}

export function randomName(): string {
  return randomBytes(8).toString("hex");
}
