import { openHost } from "../app/open-host.ts";
import type { Configuration } from "../config/load.ts";
import { mergeAuth } from "../core/auth-schema.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { credentialFiles } from "./credential-files.ts";

/** A host as the configuration wants it. */
export function hostFor(
  { home, environment, dotEnv, agent, settings, credentials }: Configuration,
  rehearsal: boolean | undefined,
): Promise<Runtime> {
  return openHost({
    home,
    environment,
    dotEnv,
    auth: mergeAuth(settings.auth, { provider: agent.auth }),
    rehearsal: rehearsal === true,
    retries: settings.retries,
    upstreamIdleMs: settings.upstream_idle_ms,
    hibernateAfterMs: settings.hibernate_after_ms,
    mountRoots: settings.mount_roots,
    budgets: settings.budgets,
    prices: settings.prices,
    redact: settings.redact,
    capacity: settings.server.capacity ?? {},
    secretFiles: credentialFiles({ credentials }),
  });
}
