import type { z } from "zod";
import { homeDirectory } from "../config/home.ts";
import type { AuthProvider } from "../core/auth-provider.ts";
import { type AuthSettings, authSettings } from "../core/auth-schema.ts";
import { type BudgetSettings, budgetSettings } from "../core/budget-schema.ts";
import { CapstanError } from "../core/errors.ts";
import { type PriceSettings, priceSettings } from "../core/pricing.ts";
import { type RedactionSettings, redactionSettings } from "../core/redaction-schema.ts";
import { type CapacitySettings, capacitySettings } from "../core/server-schema.ts";
import type { ClaudeSdk } from "../engines/claude/sdk.ts";
import type { CredentialSettings, DotEnv } from "../gateway/secret-source.ts";
import type { Upstream, UpstreamFor } from "../gateway/upstream.ts";
import { defaultProvider, usableUpstreams } from "../gateway/upstreams.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { assemble, type HostSettings } from "./assemble.ts";
import { credentialSettings } from "./credential-settings.ts";
import { hostVariables } from "./host-variables.ts";
import { openStore } from "./open-store.ts";
import { type HostRedactor, hostRedactor, secretFiles } from "./redactor.ts";

export interface HostOptions {
  /** Where sessions are kept. Default: `$CAPSTAN_HOME`, else `~/.capstan`. */
  readonly home?: string;
  /**
   * Where credentials and the model API's address are read from. Default: this process's environment. The agent never
   * sees it.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Whose model API is used where the agent does not say, and how to get there, as in a settings file. */
  readonly auth?: AuthSettings;
  /** Which variables of `environment` a project's file gave: no address among them gets a credential from elsewhere. */
  readonly dotEnv?: DotEnv | undefined;
  /** Use the built-in scripted model instead: no key, no network. */
  readonly rehearsal?: boolean;
  /** How often a failed model request is repeated, with doubling waits. Default 6, about half a minute. */
  readonly retries?: number;
  /** How long the model API may stay silent before a request is given up, in milliseconds. Default: two minutes. */
  readonly upstreamIdleMs?: number;
  /**
   * How long a session whose credential has expired waits for another one, in milliseconds; 0: it does not. Default:
   * half an hour.
   */
  readonly credentialWaitMs?: number;
  /** Idle agent processes are ended after this many milliseconds. Default: ten minutes. */
  readonly hibernateAfterMs?: number;
  /**
   * Directories that a session's workspace may be filled from, besides the one it is started in. Default: none.
   */
  readonly mountRoots?: readonly string[];
  /** Limits for agents, projects and days, as in a settings file. Default: none. */
  readonly budgets?: BudgetSettings;
  /** Prices by model, before those of the list, as in a settings file. */
  readonly prices?: PriceSettings;
  /** How much the host takes on, as `server` in a settings file. Default: what the machine allows. */
  readonly capacity?: CapacitySettings;
  /** Patterns of secrets that are taken out of events, beside the built-in ones, as in a settings file. */
  readonly redact?: RedactionSettings;
  /** Files that no agent in a sandbox may read, such as one that a credential of `environment` came from. */
  readonly secretFiles?: readonly string[];
}

/** Reads the configuration, opens the store and the way to the model, and puts a host together. */
export async function openHost(options: HostOptions = {}): Promise<Runtime> {
  const { settings, redactor, credentials, environment } = hostParts(options);
  const upstream = options.rehearsal === true ? await rehearsal() : await usableUpstreams(credentials);
  const provider = options.rehearsal === true ? undefined : defaultProvider(credentials);
  return hostWith({ settings, redactor, environment, upstream, provider });
}

/** What the options of a host come to. */
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
    upstreamIdleMs: options.upstreamIdleMs ?? 120_000,
    credentialWaitMs: options.credentialWaitMs,
    hibernateAfterMs: options.hibernateAfterMs ?? 600_000,
    mountRoots: options.mountRoots ?? [],
    secretFiles: secretFiles(home, environment, options.secretFiles),
    budgets: checked(budgetSettings, options.budgets ?? {}, "budgets"),
    prices: checked(priceSettings, options.prices ?? {}, "prices"),
    capacity: checked(capacitySettings, options.capacity ?? {}, "capacity"),
  };
  const redactor = hostRedactor(environment, checked(redactionSettings, options.redact ?? [], "redact"));
  const auth = checked(authSettings, options.auth ?? {}, "auth");
  const credentials = credentialSettings({ home, environment, auth, dotEnv: options.dotEnv }, (secret) =>
    redactor.learn(secret),
  );
  return { settings, redactor, credentials, environment };
}

/** Opens the store and puts a host together, with any model behind it; closes that when it cannot. */
export async function hostWith({
  settings,
  redactor,
  environment,
  upstream,
  provider,
  sdk,
}: Omit<HostParts, "credentials"> & {
  readonly upstream: (Upstream | UpstreamFor) & Partial<AsyncDisposable>;
  /** Whose model API that is, as far as an agent has to know. */
  readonly provider?: AuthProvider | undefined;
  /** Default: the one that Capstan is made for. */
  readonly sdk?: ClaudeSdk | undefined;
}): Promise<Runtime> {
  const store = await openStore(settings.home, environment).catch(async (thrown: unknown) => {
    await upstream[Symbol.asyncDispose]?.();
    throw thrown;
  });
  return assemble(settings, { store, upstream, redactor, provider, variable: hostVariables(environment), sdk });
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, option: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${[option, ...path].join(".")}: ${message}`);
  throw new CapstanError("invalid_input", problems.join("; "), { data: { problems } });
}

/** Loaded only when it is wanted: the scripted model is a server of its own. */
export async function rehearsal(): Promise<Upstream & AsyncDisposable> {
  const { openRehearsal } = await import("../gateway/rehearsal.ts");
  return openRehearsal();
}
