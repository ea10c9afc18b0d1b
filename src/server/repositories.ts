import type { EnvironmentDefinition } from "../core/environment.ts";
import { requirePublicHost } from "./address.ts";
import type { ServerSettings } from "./context.ts";

type Settings = Pick<ServerSettings, "allowPrivateAddresses">;

/**
 * The address of a repository that was given over HTTP, before git is started: refused when it is of this machine or of
 * a private network. It is written as it was read here, so that git finds the same host in it.
 */
export async function publicRepository({ allowPrivateAddresses }: Settings, given: string): Promise<string> {
  const url = new URL(given);
  if (!allowPrivateAddresses) await requirePublicHost(url);
  return url.href;
}

/**
 * The same for an environment that is a clone: its address is written anew in the same way when the clone is made. Paths
 * of this machine are held to the allowed roots, and ssh needs a key of the user who runs the server.
 */
export async function requirePublicSource(settings: Settings, { workspace }: EnvironmentDefinition): Promise<void> {
  const from = workspace.kind === "clone" ? workspace.from : undefined;
  if (from !== undefined && URL.parse(from)?.protocol === "https:") await publicRepository(settings, from);
}
