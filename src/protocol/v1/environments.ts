import { z } from "zod";
import { type EnvironmentDefinition, parseEnvironment } from "../../core/environment/environment.ts";
import type { EnvironmentRecord } from "../../core/ports/registry.ts";
import { metadataParams, metadataPatch, publicMetadata, time, timeOrNull } from "./fields.ts";
import { flagParam, limitUpTo, MAX_LIMIT, page } from "./queries.ts";
import { invalid, notSupported } from "./refusal.ts";

/** Environments in requests and responses of the Managed Agents API. */

const MANAGERS = ["apt", "cargo", "gem", "go", "npm", "pip"] as const;
const packageList = z.array(z.string()).nullish();
const packagesParams = z.strictObject({
  type: z.literal("packages").optional(),
  apt: packageList,
  cargo: packageList,
  gem: packageList,
  go: packageList,
  npm: packageList,
  pip: packageList,
});
const networkParams = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("unrestricted") }),
  z.strictObject({
    type: z.literal("limited"),
    allow_mcp_servers: z.boolean().nullish(),
    allow_package_managers: z.boolean().nullish(),
    allowed_hosts: z.array(z.string()).max(256).nullish(),
  }),
]);
const configParams = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("cloud"),
    networking: networkParams.nullish(),
    packages: packagesParams.nullish(),
  }),
  z.strictObject({ type: z.literal("self_hosted") }),
]);
export type ConfigParams = z.infer<typeof configParams>;

const scope = z.enum(["organization", "account"]).nullish();
const name = z.string().min(1).max(256);

export const environmentCreate = z.strictObject({
  name,
  config: configParams.nullish(),
  description: z.string().max(2_048).nullish(),
  metadata: metadataParams.optional(),
  scope,
});
export const environmentUpdate = z.strictObject({
  name: name.nullish(),
  config: configParams.nullish(),
  description: z.string().max(2_048).nullish(),
  metadata: metadataPatch.optional(),
  scope,
});

export const environmentList = z.strictObject({ limit: limitUpTo(MAX_LIMIT), page, include_archived: flagParam });

/** As saved and returned: with every default filled in. */
const cloudConfig = z.object({
  type: z.literal("cloud"),
  networking: z.discriminatedUnion("type", [
    z.object({ type: z.literal("unrestricted") }),
    z.object({
      type: z.literal("limited"),
      allow_mcp_servers: z.boolean(),
      allow_package_managers: z.boolean(),
      allowed_hosts: z.array(z.string()),
    }),
  ]),
});
type CloudConfig = z.infer<typeof cloudConfig>;

const OPEN: CloudConfig = { type: "cloud", networking: { type: "unrestricted" } };

/** Only the project's visibility is supported. */
export function requireScope(given: "organization" | "account" | null | undefined): void {
  if (given === "account")
    throw notSupported('scope "account"', "Omit it: everyone with a key of the project sees its environments.");
}

/** Applies a request's changes to the configuration. */
export function configFrom(given: ConfigParams | null | undefined, stored: CloudConfig = OPEN): CloudConfig {
  if (given == null) return stored;
  if (given.type === "self_hosted")
    throw notSupported(
      "environments of type self_hosted",
      "Omit config, or use type cloud: the server runs sessions itself and has no work queue.",
    );
  for (const manager of MANAGERS)
    if ((given.packages?.[manager] ?? []).length > 0)
      throw notSupported("packages in an environment", "Install them on the server, or let the agent install them.");
  const { networking } = given;
  if (networking == null) return stored;
  if (networking.type === "unrestricted") return OPEN;
  if (networking.allow_package_managers === true || networking.allow_mcp_servers === true)
    throw notSupported(
      "allow_package_managers and allow_mcp_servers in limited networking",
      "Name the hosts that may be reached in allowed_hosts.",
    );
  const before = stored.networking.type === "limited" ? stored.networking.allowed_hosts : [];
  return {
    type: "cloud",
    networking: {
      type: "limited",
      allow_mcp_servers: false,
      allow_package_managers: false,
      allowed_hosts: networking.allowed_hosts?.map(host) ?? before,
    },
  };
}

/** Rejects `*.com`, which would be half of the internet. */
function host(text: string): string {
  const found = text.toLowerCase();
  if (/^(?:\*\.[a-z0-9_-]+\.|)(?:[a-z0-9_-]+\.)*[a-z0-9_-]+$/.test(found)) return found;
  throw invalid(
    `config.networking.allowed_hosts: ${JSON.stringify(text)} is not a domain. Write example.com, or *.example.com for its subdomains, without a scheme or a port.`,
  );
}

/** Sessions in such an environment start with an empty workspace. */
export function newEnvironment(config: CloudConfig): EnvironmentDefinition {
  return parseEnvironment({ workspace: { kind: "copy", mounts: [] }, ...sandboxFor(config) });
}

/** Keeps what the API cannot express. */
export function changedEnvironment(stored: EnvironmentDefinition, config: CloudConfig): EnvironmentDefinition {
  return parseEnvironment({ ...stored, ...sandboxFor(config) });
}

/** Blocking the network for commands requires a sandbox. */
function sandboxFor(config: CloudConfig) {
  const { networking } = config;
  return networking.type === "unrestricted"
    ? { sandbox: {} }
    : { sandbox: { mode: "required" as const, network: { allow: networking.allowed_hosts } } };
}

/** Undefined if it was not created through this API, or if its type has nothing to configure. */
export function cloudConfigOf({ config }: Pick<EnvironmentRecord, "config">): CloudConfig | undefined {
  const read = cloudConfig.safeParse(config);
  return read.success ? read.data : undefined;
}

export function environmentToWireV1(record: EnvironmentRecord) {
  const cloud = cloudConfigOf(record);
  return {
    type: "environment" as const,
    id: record.id,
    name: record.name,
    description: record.description,
    config: cloud === undefined ? { type: "self_hosted" as const } : { ...cloud, packages: noPackages() },
    metadata: publicMetadata(record.metadata),
    scope: "organization" as const,
    created_at: time(record.createdAt),
    updated_at: time(record.updatedAt),
    archived_at: timeOrNull(record.archivedAt),
  };
}

function noPackages() {
  return { type: "packages" as const, apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] };
}
