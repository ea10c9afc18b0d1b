import { hostParts, hostWith } from "../../src/app/host/host-parts.ts";
import type { HostOptions } from "../../src/app/open-host.ts";
import type { Engine, Engines } from "../../src/core/ports/engine.ts";
import type { EngineName } from "../../src/core/agent/engine-name.ts";
import { usableUpstreams } from "../../src/gateway/upstreams/upstreams.ts";
import type { Runtime as Host } from "../../src/runtime/runtime.ts";

/** A real host with these engines in place of its own. */
export async function hostOn(engines: Pick<Engines, "load">, options: HostOptions): Promise<Host> {
  const { credentials, ...parts } = hostParts(options);
  return hostWith({ ...parts, upstream: await usableUpstreams(credentials), engines });
}

/** Engines that are there already, with the names of those that were asked for, in order. */
export function theseEngines(...all: readonly Engine[]): Pick<Engines, "load"> & { readonly loaded: EngineName[] } {
  const loaded: EngineName[] = [];
  return {
    loaded,
    async load(name) {
      loaded.push(name);
      const found = all.find((engine) => engine.name === name);
      if (found === undefined) throw new Error(`The test gave no ${name} engine.`);
      return found;
    },
  };
}
