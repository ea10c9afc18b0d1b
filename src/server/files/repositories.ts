import { isIP } from "node:net";
import type { EnvironmentDefinition } from "../../core/environment/environment.ts";
import type { HostAddresses } from "../../core/ports/workspace.ts";
import { publicAddresses } from "../http/address.ts";
import type { ServerSettings } from "../http/context.ts";

type Settings = Pick<ServerSettings, "allowPrivateAddresses">;

interface PublicRepository {
  readonly url: string;
  /** The addresses of the repository's host, so that git uses no others. Empty if any may be used. */
  readonly hostAddresses: HostAddresses;
}

/**
 * Checks the URL of a repository that came over HTTP, before git starts: rejected if it points to this machine or a
 * private network. Returns the URL as parsed here, so that git sees the same host.
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
 * The same for an environment of kind clone, whose URL is normalized in the same way when the clone is created. Local
 * paths are limited to the allowed roots, and ssh needs a key of the user who runs the server.
 */
export async function publicSource(
  settings: Settings,
  { workspace }: EnvironmentDefinition,
): Promise<Pick<PublicRepository, "hostAddresses">> {
  const from = workspace.kind === "clone" ? workspace.from : undefined;
  const isChecked = from !== undefined && URL.parse(from)?.protocol === "https:";
  return isChecked ? publicRepository(settings, from) : { hostAddresses: {} };
}
