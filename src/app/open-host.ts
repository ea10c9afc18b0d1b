import type { AuthSettings } from "../core/auth/auth-schema.ts";
import type { BudgetSettings } from "../core/money/budget-schema.ts";
import type { EngineName } from "../core/agent/engine-name.ts";
import type { PriceSettings } from "../core/money/pricing.ts";
import type { RedactionSettings } from "../core/redaction/redaction-schema.ts";
import type { CapacitySettings } from "../core/environment/server-schema.ts";
import type { DotEnv } from "../gateway/credentials/secret-source.ts";
import { defaultProvider, usableUpstreams } from "../gateway/upstreams/upstreams.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { hostParts, hostWith, rehearsal } from "./host/host-parts.ts";

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
  /** What runs sessions whose agent names no engine, as in a settings file. Default: `claude`. */
  readonly engine?: EngineName | undefined;
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
  /** Hooks of agents run outside the sandbox of their session, with your rights. Default: inside, where there is one. */
  readonly hooksOutsideSandbox?: boolean;
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
  /** Variables that count for nothing; the secrets among them are taken out of events all the same. */
  readonly unusedVariables?: Readonly<Record<string, string>>;
}

/** Reads the configuration, opens the store and the way to the model, and puts a host together. */
export async function openHost(options: HostOptions = {}): Promise<Runtime> {
  const { settings, redactor, credentials, environment } = hostParts(options);
  const upstream = options.rehearsal === true ? await rehearsal() : await usableUpstreams(credentials);
  const provider = options.rehearsal === true ? undefined : defaultProvider(credentials);
  return hostWith({ settings, redactor, environment, upstream, provider });
}
