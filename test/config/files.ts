import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Files extends Disposable {
  /** Without symbolic links. */
  readonly path: string;
  /** The absolute path of a file or directory in it. */
  at(name: string): string;
}

/** A directory with these files, gone when the test is over. A name that ends with a slash is an empty directory. */
export function files(content: Readonly<Record<string, string | Uint8Array>> = {}): Files {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "capstan-config-")));
  const at = (name: string): string => join(path, name);
  for (const [name, text] of Object.entries(content)) {
    mkdirSync(name.endsWith("/") ? at(name) : dirname(at(name)), { recursive: true });
    if (!name.endsWith("/")) writeFileSync(at(name), text);
  }
  return { path, at, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
