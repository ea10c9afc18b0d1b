import { statSync } from "node:fs";
import { userInfo } from "node:os";
import { clock, ids } from "../../app/clock.ts";
import { findProject } from "../../config/project/project.ts";
import { CapstanError } from "../../core/errors.ts";
import type { KeyRecord, Role } from "../../core/ports/registry.ts";
import { mintKey } from "../../server/http/key-secret.ts";
import { resolveId } from "../terminal/short-id.ts";
import { projectOf, userStore } from "../target/home.ts";
import { ago, color, shortId, table } from "../terminal/text.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";
import { requirePerson } from "../terminal/person.ts";

const KEY = { what: "key", command: "capstan keys list" };

export interface CreateKeyFlags {
  readonly name?: string;
  readonly role: Role;
  readonly project?: string;
  readonly json?: boolean;
}

export async function createKey({ name = userInfo().username, role, project, json }: CreateKeyFlags): Promise<void> {
  await requirePerson("capstan keys create", "create keys");
  if (project !== undefined) requireDirectory(project);
  const of = project === undefined ? findProject(process.cwd(), process.env).id : projectOf(project);
  const { record, secret } = mintKey({ project: of, name, role }, { clock, ids });
  await using store = await userStore();
  await store.registry.keys.create(record);
  if (json === true) return print(hiddenFreeJson({ ...keyToJson(record), key: secret }));
  print(secret);
  // On standard error, so that `$(capstan keys create)` is only the key.
  process.stderr.write(
    `\nKey ${shortId(record.id)} has the role ${role} in the project ${of}.\n` +
      "Save it now: it is not shown again. Pass it to a client as x-api-key, or set CAPSTAN_KEY.\n",
  );
}

/** Keys of a deleted project can be listed, but a new key needs an existing one. */
function requireDirectory(project: string): void {
  const exists = project === "default" || statSync(project, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!exists)
    throw new CapstanError(
      "cwd_missing",
      `--project: directory ${JSON.stringify(project)} not found. Create it, or name the directory of a project.`,
    );
}

export interface ListKeysFlags {
  readonly project?: string;
  readonly json?: boolean;
}

export async function listKeys({ project, json }: ListKeysFlags): Promise<void> {
  await using store = await userStore();
  const keys = await store.registry.keys.list(project === undefined ? undefined : projectOf(project));
  if (json === true) return keys.forEach((key) => print(hiddenFreeJson(keyToJson(key))));
  if (keys.length === 0) return print("No keys. Create one: capstan keys create");
  const rows = keys.map(({ id, prefix, role, createdAt, lastUsedAt, revokedAt, name, project: of }) => [
    shortId(id),
    `${prefix}…`,
    role,
    ago(Date.now() - createdAt),
    lastUsedAt === null ? "never" : ago(Date.now() - lastUsedAt),
    revokedAt === null ? "active" : "revoked",
    escapeHidden(name),
    of,
  ]);
  print(table(["KEY", "PREFIX", "ROLE", "CREATED", "USED", "STATUS", "NAME", "PROJECT"], rows));
}

export async function revokeKeys(given: readonly string[]): Promise<void> {
  await using store = await userStore();
  const keys = await store.registry.keys.list();
  // Resolves all ids first, so that a mistake in one revokes nothing.
  const chosen = given.map((one) => resolveId(keys, one, KEY));
  for (const { id, name } of chosen) {
    const isNew = await store.registry.keys.revoke(id, clock.now());
    print(`Key ${color.bold(shortId(id))} (${escapeHidden(name)}) ${isNew ? "revoked" : "was already revoked"}.`);
  }
}

/** Leaves out the hash. */
function keyToJson(key: KeyRecord): Omit<KeyRecord, "hash"> {
  const { hash: _, ...rest } = key;
  return rest;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
