import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pidNamespace } from "./pid-namespace.ts";

/**
 * Records which hosts run for one home, and in which PID namespace: an empty file for each, named after the namespace
 * and locked by the host. The lock is SQLite's, so it ends with the process in any case and is visible from every
 * namespace.
 */
const DIRECTORY = "hosts";

/**
 * Call this in every process that can start agents. Without such a file, their commands are recognized by weaker signs.
 */
export function announceHost(home: string): Disposable {
  const namespace = pidNamespace();
  if (namespace === undefined) return { [Symbol.dispose]: () => {} };
  const directory = join(home, DIRECTORY);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of namesIn(directory))
    if (!isLocked(join(directory, name))) rmSync(join(directory, name), { force: true });
  const { file, lock } = lockedFile(join(directory, namespace));
  return {
    [Symbol.dispose]() {
      if (lock.isOpen) lock.close();
      rmSync(file, { force: true });
    },
  };
}

/** Another host may mistake the file for a leftover and remove it before it is locked. */
function lockedFile(prefix: string): { readonly file: string; readonly lock: DatabaseSync } {
  for (;;) {
    const file = `${prefix}-${randomBytes(8).toString("hex")}`;
    const lock = new DatabaseSync(file, { timeout: LOCK_WITHIN_MS });
    lock.exec("BEGIN EXCLUSIVE");
    if (existsSync(file)) return { file, lock };
    lock.close();
  }
}

const LOCK_WITHIN_MS = 5_000;

/** The PID namespaces of the hosts that run for this home. */
export function namespacesOfHosts(home: string): readonly string[] {
  const directory = join(home, DIRECTORY);
  const locked = namesIn(directory).filter((name) => isLocked(join(directory, name)));
  return [...new Set(locked.map((name) => name.split("-", 1)[0] ?? ""))];
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => /^\w+-[0-9a-f]{16}$/.test(name));
  } catch {
    return [];
  }
}

function isLocked(file: string): boolean {
  try {
    using other = new DatabaseSync(file, { timeout: 0 });
    other.exec("BEGIN EXCLUSIVE");
    return false;
  } catch {
    return true;
  }
}
