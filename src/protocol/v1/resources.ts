import { z } from "zod";
import type { SessionResource } from "../../core/ports/store.ts";
import { time } from "./fields.ts";
import { limitUpTo, MAX_LIMIT, page } from "./queries.ts";
import { invalid } from "./refusal.ts";

/** Files and repositories in a session's workspace, in requests and responses of the Managed Agents API. */

const mountPath = z.string().max(1_024).nullish();

export const fileParams = z.strictObject({
  type: z.literal("file"),
  file_id: z.string(),
  mount_path: mountPath,
});
/** The URL is saved and shown to everyone who may see the session. */
function hasNoCredentials(url: string): boolean {
  const { username, password } = URL.parse(url) ?? {};
  return !username && !password;
}

const repositoryParams = z.strictObject({
  type: z.literal("github_repository"),
  // Other kinds of URL could name a path on the server.
  url: z
    .url({ protocol: /^https$/, error: "expected the https URL of a repository" })
    .refine(hasNoCredentials, "the URL must not contain a user name or password; use authorization_token"),
  authorization_token: z.string().min(1).optional(),
  checkout: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("branch"), name: z.string().min(1) }),
      z.strictObject({
        type: z.literal("commit"),
        sha: z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "expected the full SHA of a commit"),
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

/** The hosted API's roots. Here the session's workspace is both. */
const ROOTS = /^\/(?:workspace|mnt\/session)\//;

/** Relative to the root of the workspace. */
export function mountPathIn(written: string | null | undefined, usual: string): string {
  if (written == null || written === "") return usual;
  const path = written.replace(ROOTS, "");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (path.startsWith("/"))
    throw invalid(
      `mount_path: ${JSON.stringify(written)} is outside the workspace. Write a relative path, or one below /workspace/ or /mnt/session/.`,
    );
  if (names.length === 0 || names.includes("..") || hasControlCharacter(path))
    throw invalid(`mount_path: ${JSON.stringify(written)} must be a path inside the workspace, without "..".`);
  return names.join("/");
}

function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** The directory name that a clone would get. */
export function repositoryName(url: string): string {
  const last = new URL(url).pathname.split("/").findLast((name) => name !== "") ?? "";
  const name = decodeOrKeep(last).replace(/\.git$/, "");
  return /^[\w.-]+$/.test(name) && !/^\.+$/.test(name) ? name : "repository";
}

/** Returns badly encoded text unchanged. */
function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Two resources must not share a path or contain each other. */
export function requireApart(places: readonly string[]): void {
  for (const [index, place] of places.entries())
    for (const other of places.slice(index + 1))
      if (place === other || other.startsWith(`${place}/`) || place.startsWith(`${other}/`))
        throw invalid(`resources: ${place} and ${other} overlap. Set a different mount_path for each.`);
}

export function resourceToWireV1(resource: SessionResource) {
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
