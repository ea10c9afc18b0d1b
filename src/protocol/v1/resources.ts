import { z } from "zod";
import type { SessionResource } from "../../core/ports/store.ts";
import { time } from "./fields.ts";
import { limitUpTo, MAX_LIMIT, page } from "./queries.ts";
import { invalid } from "./refusal.ts";

/** Files and repositories that stand in a session's workspace, as clients of the Managed Agents API write and see them. */

const mountPath = z.string().max(1_024).nullish();

export const fileParams = z.strictObject({
  type: z.literal("file"),
  file_id: z.string(),
  mount_path: mountPath,
});
/** The address is stored and shown to all who may see the session. */
function hasNoCredentials(url: string): boolean {
  const { username, password } = URL.parse(url) ?? {};
  return !username && !password;
}

const repositoryParams = z.strictObject({
  type: z.literal("github_repository"),
  // Another kind of address could be a path of the server's own.
  url: z
    .url({ protocol: /^https$/, error: "expected the https address of a repository" })
    .refine(hasNoCredentials, "the address must hold no name and no password; use authorization_token"),
  authorization_token: z.string().min(1).optional(),
  checkout: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("branch"), name: z.string().min(1) }),
      z.strictObject({
        type: z.literal("commit"),
        sha: z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "expected the whole SHA of a commit"),
      }),
    ])
    .nullish(),
  mount_path: mountPath,
});
export const resourceParams = z.discriminatedUnion("type", [
  fileParams,
  repositoryParams,
  z.object({ type: z.literal("memory_store") }),
]);
export type ResourceParams = z.infer<typeof resourceParams>;
export type RepositoryParams = z.infer<typeof repositoryParams>;

export const resourceUpdate = z.strictObject({ authorization_token: z.string() });

export const resourceList = z.strictObject({ limit: limitUpTo(MAX_LIMIT), page });

/** The roots that the hosted API has. Here a session's workspace is both. */
const ROOTS = /^\/(?:workspace|mnt\/session)\//;

/** Relative to the root of the workspace. */
export function placeIn(written: string | null | undefined, usual: string): string {
  if (written == null || written === "") return usual;
  const path = written.replace(ROOTS, "");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (path.startsWith("/"))
    throw invalid(
      `mount_path: ${JSON.stringify(written)} does not lie in the workspace. Write a relative path, or one below /workspace/ or /mnt/session/.`,
    );
  if (names.length === 0 || names.includes("..") || hasControlCharacter(path))
    throw invalid(`mount_path: ${JSON.stringify(written)} must name a place inside the workspace, without "..".`);
  return names.join("/");
}

function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** As a clone of it would be called. */
export function repositoryName(url: string): string {
  const last = new URL(url).pathname.split("/").findLast((name) => name !== "") ?? "";
  const name = decoded(last).replace(/\.git$/, "");
  return /^[\w.-]+$/.test(name) && !/^\.+$/.test(name) ? name : "repository";
}

/** What is not well encoded stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Two things cannot stand in the same place, nor one in the other. */
export function requireApart(places: readonly string[]): void {
  for (const [index, place] of places.entries())
    for (const other of places.slice(index + 1))
      if (place === other || other.startsWith(`${place}/`) || place.startsWith(`${other}/`))
        throw invalid(`resources: ${place} and ${other} would stand in the same place. Give each a mount_path.`);
}

export function resourceView(resource: SessionResource) {
  const shared = {
    id: resource.id,
    mount_path: resource.mountPath,
    created_at: time(resource.createdAt),
    updated_at: time(resource.createdAt),
  };
  return resource.type === "file"
    ? { ...shared, type: "file" as const, file_id: resource.fileId }
    : { ...shared, type: "github_repository" as const, url: resource.url, checkout: resource.checkout };
}
