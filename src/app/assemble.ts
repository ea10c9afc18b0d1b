import { homedir } from "node:os";
import { join } from "node:path";
import { KnownProjects } from "../config/project/known-projects.ts";
import { TrustBook } from "../config/trust/trust-book.ts";
import type { AuthProvider } from "../core/auth/auth-provider.ts";
import type { BudgetSettings } from "../core/money/budget-schema.ts";
import { type PriceSettings, pricesWith } from "../core/money/pricing.ts";
import { createRedactor, type Redactor } from "../core/redaction/redaction.ts";
import type { LookUp } from "../core/agent/references.ts";
import type { CapacitySettings } from "../core/environment/server-schema.ts";
import type { Store } from "../core/ports/store.ts";
import type { Engines } from "../core/ports/engine.ts";
import { DEFAULT_ENGINE, type EngineName } from "../core/agent/engine-name.ts";
import type { ClaudeSdk } from "../engines/claude/sdk/sdk.ts";
import { openGateway } from "../gateway/gateway.ts";
import type { Upstream, UpstreamFor } from "../gateway/upstreams/upstream.ts";
import { Runtime } from "../runtime/runtime.ts";
import { loadFunctionsLazily, outputs } from "./host/lazy-tools.ts";
import { hostCapacity } from "./host/capacity.ts";
import { clock, ids } from "./clock.ts";
import { loadedEngines } from "./engines.ts";
import { announceHost } from "./hosts/running-hosts.ts";
import { hookCommands } from "./host/hook-command.ts";
import { isGone, thisProcess } from "./host/processes.ts";
import { workspacesIn } from "./host/workspaces.ts";

export interface HostSettings {
  readonly home: string;
  /** Search path for the agents' commands. */
  readonly path: string;
  readonly retries: number;
  /** The engine of sessions whose agent names none. Default: `claude`. */
  readonly engine?: EngineName | undefined;
  readonly upstreamIdleMs: number;
  /** How long model requests wait for a new credential when theirs has expired. Default: half an hour. */
  readonly credentialWaitMs?: number | undefined;
  readonly hibernateAfterMs: number;
  /** Directories of the host that workspaces may be filled from, besides the one a session is started in. */
  readonly mountRoots?: readonly string[];
  /** Files that no agent may read, wherever they are. */
  readonly secretFiles?: readonly string[];
  /** Whether hooks run outside the sandbox of their session. Default: inside. */
  readonly hooksOutsideSandbox?: boolean;
  /** Default: no limits beyond those of a session, and list prices. */
  readonly budgets?: BudgetSettings;
  readonly prices?: PriceSettings;
  /** Default: what the machine allows. */
  readonly capacity?: CapacitySettings;
}

/** Assembles a host and takes ownership of its parts: closing the host closes them. */
export async function assemble(
  settings: HostSettings,
  {
    store,
    upstream,
    redactor = createRedactor(),
    variable = () => undefined,
    provider,
    sdk,
    engines,
  }: {
    store: Store;
    upstream: Upstream | UpstreamFor;
    redactor?: Redactor;
    /** The provider of `upstream`, as far as agents depend on it. */
    provider?: AuthProvider | undefined;
    /** Resolves `${NAME}` in a definition. Default: no variables. */
    variable?: LookUp;
    /** Default: the SDK version that Capstan is built for. */
    sdk?: ClaudeSdk | undefined;
    /** Default: the built-in engines. */
    engines?: Pick<Engines, "load"> | undefined;
  },
): Promise<Runtime> {
  const { upstreamIdleMs: idleTimeoutMs, credentialWaitMs } = settings;
  const gateway = await openGateway({ upstream, clock, idleTimeoutMs, credentialWaitMs }).catch(
    async (thrown: unknown) => {
      await store[Symbol.asyncDispose]();
      throw thrown;
    },
  );
  const prices = pricesWith(settings.prices ?? {});
  const own = engines ?? loadedEngines({ path: settings.path, retries: settings.retries, prices }, { sdk });
  const announced = announceHost(settings.home);
  const book = new TrustBook(settings.home);
  return new Runtime({
    store,
    gateway,
    engines: { ...own, default: settings.engine ?? DEFAULT_ENGINE },
    clock,
    ids,
    owner: thisProcess(ids.next("host")),
    isGone,
    home: homedir(),
    stateRoot: join(settings.home, "sessions"),
    capstanHome: settings.home,
    secretFiles: settings.secretFiles ?? [],
    workspaces: workspacesIn(settings.home, settings.mountRoots ?? []),
    hibernateAfterMs: settings.hibernateAfterMs,
    release: async () => {
      await gateway[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      announced[Symbol.dispose]();
    },
    outputs,
    loadFunctions: loadFunctionsLazily,
    variable,
    provider,
    runHookCommand: hookCommands({ path: settings.path, isOutside: settings.hooksOutsideSandbox }),
    isTrustedFile: (path, hash) => book.hasFile(path, hash),
    redactor,
    ...hostCapacity(settings.capacity ?? {}),
    budgets: { settings: settings.budgets ?? {}, prices, accounts: new KnownProjects(settings.home) },
  });
}
