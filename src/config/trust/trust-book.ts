import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { KnownProjects } from "../project/known-projects.ts";
import { sha256Of, type TrustItem } from "./trust-item.ts";

const record = z.strictObject({
  version: z.literal(1),
  kind: z.enum(["settings", "variables", "agent", "suite"]),
  root: z.string(),
  path: z.string(),
  hash: z.string(),
  /** The content that was trusted, so that a later change can be shown. */
  files: z.array(z.strictObject({ path: z.string(), hash: z.string(), text: z.string() })),
  trusted_at: z.string(),
  /** Who trusted it. */
  by: z.string(),
});

export type TrustRecord = z.infer<typeof record>;

/** What was last trusted at a path, with the same or other content. */
export type TrustedBefore = (item: Pick<TrustItem, "kind" | "root" | "path">) => TrustRecord | undefined;

/** What a person has trusted: one private file for each, in Capstan's own home and never in a workspace. */
export class TrustBook {
  readonly #directory: string;
  readonly #known: KnownProjects;

  constructor(home: string) {
    this.#directory = join(home, "trust");
    this.#known = new KnownProjects(home);
  }

  isTrusted(item: TrustItem): boolean {
    return this.find(item)?.hash === item.hash;
  }

  /** What was last trusted at the same path, with the same or other content. */
  find({ kind, root, path }: Pick<TrustItem, "kind" | "root" | "path">): TrustRecord | undefined {
    const found = this.#read(nameOf({ kind, root, path }));
    // A record stored under another one's name does not count.
    return found?.kind === kind && found.root === root && found.path === path ? found : undefined;
  }

  /** Whether anything trusted included this file with exactly this content. */
  hasFile(path: string, hash: string): boolean {
    return this.list().some(({ files }) => files.some((file) => file.path === path && file.hash === hash));
  }

  list(): readonly TrustRecord[] {
    let names: string[];
    try {
      names = readdirSync(this.#directory);
    } catch {
      return [];
    }
    return names
      .flatMap((name) => {
        const found = this.#read(name);
        return found !== undefined && nameOf(found) === name ? [found] : [];
      })
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Atomic, even if the machine stops in the middle. */
  add(item: TrustItem, by: string, now: Date): void {
    const made = recordOf(item, by, now);
    const name = nameOf(made);
    const unfinished = join(this.#directory, `${name}.${randomBytes(6).toString("hex")}.tmp`);
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      writeFileSync(unfinished, `${JSON.stringify(made)}\n`, { mode: 0o600, flag: "wx", flush: true });
      renameSync(unfinished, join(this.#directory, name));
      this.#known.vouch(item.root);
    } catch (thrown) {
      rmSync(unfinished, { force: true });
      throw new CapstanError("store_failed", `Cannot record trust in ${this.#directory}: ${messageOf(thrown)}.`, {
        data: { directory: this.#directory },
        cause: thrown,
      });
    }
  }

  /** Whether there was anything to revoke. */
  remove(item: Pick<TrustItem, "kind" | "root" | "path">): boolean {
    const path = join(this.#directory, nameOf(item));
    const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    rmSync(path, { force: true });
    return isThere;
  }

  /** Undefined for anything unreliable: then nothing is trusted. */
  #read(name: string): TrustRecord | undefined {
    const path = join(this.#directory, name);
    try {
      if (!isPrivate(this.#directory) || !isPrivate(path)) return undefined;
      return record.safeParse(JSON.parse(readFileSync(path, "utf8"))).data;
    } catch {
      return undefined;
    }
  }
}

export function recordOf({ kind, root, path, hash, files }: TrustItem, by: string, now: Date): TrustRecord {
  return {
    version: 1,
    kind,
    root,
    path,
    hash,
    files: files.map((file) => ({ path: file.path, hash: file.hash, text: file.text })),
    trusted_at: now.toISOString(),
    by,
  };
}

const WRITABLE_BY_OTHERS = 0o022;

/** Anyone else who could write it could have trusted anything. */
function isPrivate(path: string): boolean {
  const { uid, mode } = statSync(path);
  return (uid === process.getuid?.() || process.getuid === undefined) && (mode & WRITABLE_BY_OTHERS) === 0;
}

function nameOf({ kind, root, path }: Pick<TrustItem, "kind" | "root" | "path">): string {
  return `${sha256Of(JSON.stringify([kind, root, path])).slice(0, 32)}.json`;
}
