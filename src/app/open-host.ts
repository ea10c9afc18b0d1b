import { homeDirectory } from "../config/home.ts";
import type { Upstream } from "../gateway/upstream.ts";
import { upstreamFromEnvironment } from "../gateway/upstreams.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { assemble } from "./assemble.ts";
import { openStore } from "./open-store.ts";

export interface HostOptions {
  /** Where sessions are kept. Default: `$CAPSTAN_HOME`, else `~/.capstan`. */
  readonly home?: string;
  /**
   * Where credentials and the model API's address are read from. Default: this process's environment. The agent never
   * sees it.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Use the built-in scripted model instead: no key, no network. */
  readonly rehearsal?: boolean;
  /** How often a failed model request is repeated, with doubling waits. Default 6, about half a minute. */
  readonly retries?: number;
  /** How long the model API may stay silent before a request is given up, in milliseconds. Default: two minutes. */
  readonly upstreamIdleMs?: number;
  /** Idle agent processes are ended after this many milliseconds. Default: ten minutes. */
  readonly hibernateAfterMs?: number;
}

/** Reads the configuration, opens the store and the way to the model, and puts a host together. */
export async function openHost(options: HostOptions = {}): Promise<Runtime> {
  const environment = options.environment ?? process.env;
  const home = options.home ?? homeDirectory(environment).path;
  const settings = {
    home,
    path: environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    retries: options.retries ?? 6,
    upstreamIdleMs: options.upstreamIdleMs ?? 120_000,
    hibernateAfterMs: options.hibernateAfterMs ?? 600_000,
  };
  const upstream = options.rehearsal === true ? await rehearsal() : await upstreamFromEnvironment(environment);
  const close = async (thrown: unknown): Promise<never> => {
    await (upstream as Partial<AsyncDisposable>)[Symbol.asyncDispose]?.();
    throw thrown;
  };
  const store = await openStore(home).catch(close);
  return assemble(settings, { store, upstream });
}

/** Loaded only when it is wanted: the scripted model is a server of its own. */
async function rehearsal(): Promise<Upstream & AsyncDisposable> {
  const { openRehearsal } = await import("../gateway/rehearsal.ts");
  return openRehearsal();
}
