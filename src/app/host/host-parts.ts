import type { z } from "zod";
import { homeDirectory } from "../../config/project/home.ts";
import { engineName } from "../../core/agent/agent-definition.ts";
import type { AuthProvider } from "../../core/auth/auth-provider.ts";
import { authSettings } from "../../core/auth/auth-schema.ts";
import { budgetSettings } from "../../core/money/budget-schema.ts";
import type { Engines } from "../../core/ports/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import { priceSettings } from "../../core/money/pricing.ts";
import { redactionSettings } from "../../core/redaction/redaction-schema.ts";
import { capacitySettings } from "../../core/environment/server-schema.ts";
import type { ClaudeSdk } from "../../engines/claude/sdk/sdk.ts";
import type { CredentialSettings } from "../../gateway/credentials/secret-source.ts";
import type { Upstream, UpstreamFor } from "../../gateway/upstreams/upstream.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { assemble, type HostSettings } from "../assemble.ts";
import { credentialSettings } from "../credentials/credential-settings.ts";
import { hostVariables } from "./host-variables.ts";
import type { HostOptions } from "../open-host.ts";
import { openStore } from "../open-store.ts";
import { type HostRedactor, hostRedactor, secretFiles } from "./redactor.ts";

// Separate from open-host.ts, which is public: programs need not have the types of a host's parts.

/** The parts that follow from a host's options. */
export interface HostParts {
  readonly settings: HostSettings;
  readonly redactor: HostRedactor;
  readonly credentials: CredentialSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function hostParts(options: HostOptions): HostParts {
  const environment = options.environment ?? process.env;
  const home = options.home ?? homeDirectory(environment).path;
  const settings = {
    home,
    path: environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    retries: options.retries ?? 6,
    engine: parseOption(engineName.optional(), options.engine, "engine"),
    upstreamIdleMs: options.upstreamIdleMs ?? 120_000,
    credentialWaitMs: options.credentialWaitMs,
    hibernateAfterMs: options.hibernateAfterMs ?? 600_000,
    mountRoots: options.mountRoots ?? [],
    hooksOutsideSandbox: options.hooksOutsideSandbox ?? false,
    secretFiles: secretFiles(home, environment, options.secretFiles),
    budgets: parseOption(budgetSettings, options.budgets ?? {}, "budgets"),
    prices: parseOption(priceSettings, options.prices ?? {}, "prices"),
    capacity: parseOption(capacitySettings, options.capacity ?? {}, "capacity"),
  };
  const hidden = { ...options.unusedVariables, ...environment };
  const redactor = hostRedactor(hidden, parseOption(redactionSettings, options.redact ?? [], "redact"));
  const auth = parseOption(authSettings, options.auth ?? {}, "auth");
  const credentials = credentialSettings({ home, environment, auth, dotEnv: options.dotEnv }, (secret) =>
    redactor.learn(secret),
  );
  return { settings, redactor, credentials, environment };
}

/** Opens the store and assembles a host with any model behind it. */
export async function hostWith({
  settings,
  redactor,
  environment,
  upstream,
  provider,
  sdk,
  engines,
}: Omit<HostParts, "credentials"> & {
  readonly upstream: Upstream | UpstreamFor;
  /** The model API's provider, as far as agents depend on it. */
  readonly provider?: AuthProvider | undefined;
  /** Default: the SDK version that Capstan is built for. */
  readonly sdk?: ClaudeSdk | undefined;
  /** Default: the built-in engines. */
  readonly engines?: Pick<Engines, "load"> | undefined;
}): Promise<Runtime> {
  return assemble(settings, {
    store: await openStore(settings.home, environment),
    upstream,
    redactor,
    provider,
    variable: hostVariables(environment),
    sdk,
    engines,
  });
}

function parseOption<Schema extends z.ZodType>(schema: Schema, value: unknown, option: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${[option, ...path].join(".")}: ${message}`);
  throw new CapstanError("invalid_input", problems.join("; "), { data: { problems } });
}

/** Loaded on demand. */
export async function rehearsal(): Promise<Upstream> {
  const { openRehearsal } = await import("../../gateway/rehearsal/rehearsal.ts");
  return openRehearsal();
}
