import { isIP } from "node:net";
import type { EnvironmentDefinition } from "../../core/environment/environment.ts";
import type { HostAddresses } from "../../core/ports/workspace.ts";
import { publicAddresses } from "../http/address.ts";
import type { ServerSettings } from "../http/context.ts";

type Settings = Pick<ServerSettings, "allowPrivateAddresses">;

interface PublicRepository {
  readonly url: string;
  /** Where its host is, so that git looks for no other address. Empty when any may be used. */
  readonly hostAddresses: HostAddresses;
}

/**
 * The address of a repository that was given over HTTP, before git is started: refused when it is of this machine or of
 * a private network. It is written as it was read here, so that git finds the same host in it.
 */
export async function publicRepository({ allowPrivateAddresses }: Settings, given: string): Promise<PublicRepository> {
  const url = new URL(given);
  const { href, hostname, port } = url;
  if (allowPrivateAddresses) return { url: href, hostAddresses: {} };
  const found = await publicAddresses(url);
  const isName = isIP(hostname.replaceAll(/^\[|\]$/g, "")) === 0;
  return { url: href, hostAddresses: isName ? { [`${hostname}:${port || HTTPS_PORT}`]: found } : {} };
}

const HTTPS_PORT = 443;

/**
 * The same for an environment that is a clone: its address is written anew in the same way when the clone is made. Paths
 * of this machine are held to the allowed roots, and ssh needs a key of the user who runs the server.
 */
export async function publicSource(
  settings: Settings,
  { workspace }: EnvironmentDefinition,
): Promise<Pick<PublicRepository, "hostAddresses">> {
  const from = workspace.kind === "clone" ? workspace.from : undefined;
  const isChecked = from !== undefined && URL.parse(from)?.protocol === "https:";
  return isChecked ? publicRepository(settings, from) : { hostAddresses: {} };
}
