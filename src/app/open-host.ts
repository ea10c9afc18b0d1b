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
  /** Where sessions are saved. Default: `$CAPSTAN_HOME`, otherwise `~/.capstan`. */
  readonly home?: string;
  /**
   * The variables for credentials and the model API's address. Default: this process's environment. Agents never see
   * them.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The model provider if the agent names none, and how to reach it, as in a settings file. */
  readonly auth?: AuthSettings;
  /**
   * Which variables of `environment` came from a project's file: addresses among them never receive credentials from
   * elsewhere.
   */
  readonly dotEnv?: DotEnv | undefined;
  /** The engine of sessions whose agent names none, as in a settings file. Default: `claude`. */
  readonly engine?: EngineName | undefined;
  /** Use the built-in scripted model instead: no key, no network. */
  readonly rehearsal?: boolean;
  /** How often a failed model request is retried, with doubling waits. Default: 6, about half a minute. */
  readonly retries?: number;
  /** How long the model API may send nothing before a request fails, in milliseconds. Default: two minutes. */
  readonly upstreamIdleMs?: number;
  /**
   * How long a session whose credential has expired waits for a new one, in milliseconds; 0 disables waiting. Default:
   * half an hour.
   */
  readonly credentialWaitMs?: number;
  /** Idle agent processes end after this many milliseconds. Default: ten minutes. */
  readonly hibernateAfterMs?: number;
  /**
   * Directories that a session's workspace may be filled from, besides the one it is started in. Default: none.
   */
  readonly mountRoots?: readonly string[];
  /**
   * Whether agents' hooks run outside the sandbox of their session, with your rights. Default: inside, if there is one.
   */
  readonly hooksOutsideSandbox?: boolean;
  /** Limits for agents, projects and days, as in a settings file. Default: none. */
  readonly budgets?: BudgetSettings;
  /** Prices by model, which take precedence over the list, as in a settings file. */
  readonly prices?: PriceSettings;
  /** How much the host takes on, like `server` in a settings file. Default: what the machine allows. */
  readonly capacity?: CapacitySettings;
  /** Patterns of secrets to redact from events, in addition to the built-in ones, as in a settings file. */
  readonly redact?: RedactionSettings;
  /** Files that no sandboxed agent may read, such as the source of a credential in `environment`. */
  readonly secretFiles?: readonly string[];
  /** Variables that are ignored; secrets among them are still redacted from events. */
  readonly unusedVariables?: Readonly<Record<string, string>>;
}

/** Reads the configuration, opens the store and the model API, and assembles a host. */
export async function openHost(options: HostOptions = {}): Promise<Runtime> {
  const { settings, redactor, credentials, environment } = hostParts(options);
  const upstream = options.rehearsal === true ? await rehearsal() : await usableUpstreams(credentials);
  const provider = options.rehearsal === true ? undefined : defaultProvider(credentials);
  return hostWith({ settings, redactor, environment, upstream, provider });
}
