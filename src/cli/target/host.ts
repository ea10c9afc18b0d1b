import { type HostOptions, openHost } from "../../app/open-host.ts";
import type { TestsOptions } from "../../app/record/open-tests.ts";
import type { Configuration } from "../../config/load.ts";
import { unreadDotEnv } from "../../config/variables/unread-dot-env.ts";
import { mergeAuth } from "../../core/auth/auth-schema.ts";
import { CapstanError } from "../../core/errors.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { credentialFiles } from "./credential-files.ts";
import { reportWithheld } from "../trust/trust-view.ts";

/** Opens a host with this configuration. */
export function hostFor(configuration: Configuration, rehearsal: boolean | undefined): Promise<Runtime> {
  reportWithheld(configuration);
  return openHost({ ...hostOptions(configuration), rehearsal: rehearsal === true }).catch((error: unknown) => {
    throw withUnreadFile(error, configuration);
  });
}

/** The options of a host that runs suites. */
export function testsOptions(configuration: Configuration): TestsOptions {
  const { settings } = configuration;
  return { ...hostOptions(configuration), gradersOutsideSandbox: settings.graders_outside_sandbox };
}

export function hostOptions({ home, environment, dotEnv, agent, settings, credentials }: Configuration): HostOptions {
  return {
    home,
    environment,
    dotEnv,
    auth: mergeAuth(settings.auth, { provider: agent.auth }),
    engine: settings.engine,
    retries: settings.retries,
    upstreamIdleMs: settings.upstream_idle_ms,
    credentialWaitMs: settings.credential_wait_ms,
    hibernateAfterMs: settings.hibernate_after_ms,
    mountRoots: settings.mount_roots,
    hooksOutsideSandbox: settings.hooks_outside_sandbox,
    budgets: settings.budgets,
    prices: settings.prices,
    redact: settings.redact,
    capacity: settings.server.capacity ?? {},
    secretFiles: credentialFiles({ credentials, dotEnv }),
    unusedVariables: dotEnv?.unused ?? {},
  };
}

/** Adds a note to a missing-credential error if an `.env` that Capstan does not read exists next to the agent. */
function withUnreadFile(error: unknown, { agentFile, home, dotEnv }: Configuration): unknown {
  const [file] = agentFile?.files ?? [];
  if (file === undefined || !(error instanceof CapstanError) || error.code !== "credential_missing") return error;
  const unread = unreadDotEnv(file, { cwd: process.cwd(), home, dotEnv });
  if (unread === undefined) return error;
  return new CapstanError(error.code, `${error.message} ${unread}.`, { data: error.data, cause: error });
}
