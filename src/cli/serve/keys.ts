import { statSync } from "node:fs";
import { userInfo } from "node:os";
import { clock, ids } from "../../app/clock.ts";
import { findProject } from "../../config/project/project.ts";
import { CapstanError } from "../../core/errors.ts";
import type { KeyRecord, Role } from "../../core/ports/registry.ts";
import { mintKey } from "../../server/http/key-secret.ts";
import { resolveId } from "../terminal/short-id.ts";
import { projectOf, userStore } from "../target/home.ts";
import { ago, colour, shortId, table } from "../terminal/text.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";
import { requirePerson } from "../terminal/person.ts";

const KEY = { what: "key", command: "capstan keys list" };

export interface CreateFlags {
  readonly name?: string;
  readonly role: Role;
  readonly project?: string;
  readonly json?: boolean;
}

export async function create({ name = userInfo().username, role, project, json }: CreateFlags): Promise<void> {
  await requirePerson("capstan keys create", "create keys");
  if (project !== undefined) requireDirectory(project);
  const of = project === undefined ? findProject(process.cwd(), process.env).id : projectOf(project);
  const { record, secret } = mintKey({ project: of, name, role }, { clock, ids });
  await using store = await userStore();
  await store.registry.keys.create(record);
  if (json === true) return print(hiddenFreeJson({ ...shown(record), key: secret }));
  print(secret);
  // Beside the key itself, so that `$(capstan keys create)` is the key and nothing else.
  process.stderr.write(
    `\nThe key ${shortId(record.id)} may act as ${role} of the project ${of}.\n` +
      "It is shown only now. Give it to a client as x-api-key, or set CAPSTAN_KEY.\n",
  );
}

/** A project that is gone may be listed; a key for one that never was is a mistake. */
function requireDirectory(project: string): void {
  const isThere = project === "default" || statSync(project, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isThere)
    throw new CapstanError(
      "cwd_missing",
      `--project: there is no directory ${JSON.stringify(project)}. Make it, or name the directory of a project.`,
    );
}

export interface ListFlags {
  readonly project?: string;
  readonly json?: boolean;
}

export async function list({ project, json }: ListFlags): Promise<void> {
  await using store = await userStore();
  const keys = await store.registry.keys.list(project === undefined ? undefined : projectOf(project));
  if (json === true) return keys.forEach((key) => print(hiddenFreeJson(shown(key))));
  if (keys.length === 0) return print("There is no key. Make one: capstan keys create");
  const rows = keys.map(({ id, prefix, role, createdAt, lastUsedAt, revokedAt, name, project: of }) => [
    shortId(id),
    `${prefix}…`,
    role,
    ago(Date.now() - createdAt),
    lastUsedAt === null ? "never" : ago(Date.now() - lastUsedAt),
    revokedAt === null ? "holds" : "revoked",
    escapeHidden(name),
    of,
  ]);
  print(table(["KEY", "BEGINS", "ROLE", "MADE", "USED", "STATUS", "NAME", "PROJECT"], rows));
}

export async function revoke(given: readonly string[]): Promise<void> {
  await using store = await userStore();
  const keys = await store.registry.keys.list();
  // All names are looked up first, so that a mistake in one revokes nothing.
  const chosen = given.map((one) => resolveId(keys, one, KEY));
  for (const { id, name } of chosen) {
    const isNew = await store.registry.keys.revoke(id, clock.now());
    print(
      `${colour.bold(shortId(id))} (${escapeHidden(name)}) ${isNew ? "is refused from now on" : "was revoked before"}.`,
    );
  }
}

/** Without the hash, which is nobody's business. */
function shown(key: KeyRecord): Omit<KeyRecord, "hash"> {
  const { hash: _, ...rest } = key;
  return rest;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
