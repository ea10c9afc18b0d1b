import { createHash, randomUUID } from "node:crypto";
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolOutputs } from "../../../core/tool-output/tool-outputs.ts";
import { storeFailure } from "../file/failure.ts";

/** Also prevents a path from leading out of the directory. */
const HASH = /^[0-9a-f]{64}$/;
const SESSION_ID = /^[A-Za-z0-9][\w-]*$/;

/** In `<root>/<session>/<hash>`: private files that never change. Several processes may share the directory. */
export function toolOutputsIn(root: string): ToolOutputs & { removeAll(sessionId: string): Promise<void> } {
  const directoryOf = (sessionId: string): string => {
    if (!SESSION_ID.test(sessionId)) throw new Error(`${JSON.stringify(sessionId)} is not a session id.`);
    return join(root, sessionId);
  };
  const read = async (sessionId: string, hash: string): Promise<Buffer | undefined> => {
    const file = join(directoryOf(sessionId), hash);
    return HASH.test(hash) ? onDisk(file, () => readFile(file).catch(nothing)) : undefined;
  };
  return {
    read,

    async write(sessionId, content) {
      const directory = directoryOf(sessionId);
      const hash = contentHash(content);
      await onDisk(directory, () => mkdir(directory, { recursive: true, mode: 0o700 }));
      const unfinished = join(directory, `${randomUUID()}.part`);
      try {
        await onDisk(directory, () => writeFile(unfinished, content, { mode: 0o600, flush: true }));
        await onDisk(directory, () => rename(unfinished, join(directory, hash)));
      } finally {
        await rm(unfinished, { force: true });
      }
      return { hash, bytes: content.length };
    },

    async check(sessionId, hash) {
      const content = await read(sessionId, hash);
      if (content === undefined) return "missing";
      return contentHash(content) === hash ? "intact" : "altered";
    },

    async size(sessionId) {
      const directory = directoryOf(sessionId);
      const names = await onDisk(directory, () => readdir(directory).catch(nothing));
      const sizes = (names ?? []).map(async (name) => (await stat(join(directory, name)).catch(nothing))?.size ?? 0);
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    },

    async copy(from, to, hashes) {
      const wanted = [...new Set(hashes)].filter((hash) => HASH.test(hash));
      if (wanted.length === 0) return;
      const [source, target] = [directoryOf(from), directoryOf(to)];
      await onDisk(target, () => mkdir(target, { recursive: true, mode: 0o700 }));
      for (const hash of wanted) {
        const [file, twin] = [join(source, hash), join(target, hash)];
        // Files that the parent has lost can't be copied; the audit reports this for both.
        await onDisk(twin, () => link(file, twin).catch(() => copyFile(file, twin).catch(nothing)));
      }
    },

    async removeAll(sessionId) {
      const directory = directoryOf(sessionId);
      await onDisk(directory, () => rm(directory, { recursive: true, force: true }));
    },
  };
}

async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  return work().catch((thrown: unknown) => {
    throw storeFailure(thrown, path);
  });
}

export function contentHash(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function nothing(thrown: NodeJS.ErrnoException): undefined {
  if (thrown.code === "ENOENT") return undefined;
  throw thrown;
}
