import type { Engine, Engines } from "../core/ports/engine.ts";
import type { EngineCapabilities } from "../core/ports/engine-capabilities.ts";
import type { EngineName } from "../core/agent/engine-name.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { ClaudeSdk } from "../engines/claude/sdk/sdk.ts";
import { claudeCapabilities } from "../engines/claude/capabilities.ts";
import { directCapabilities } from "../engines/direct/capabilities.ts";
import type { DirectSettings } from "../engines/direct/engine.ts";
import {
  compileSchema,
  connectRemoteServerLazily,
  connectServerLazily,
  createToolServerLazily,
} from "./host/lazy-tools.ts";

export type EngineSettings = DirectSettings;

export interface EngineParts {
  /** For the `claude` engine. Default: the SDK version that Capstan is built for. */
  readonly sdk?: ClaudeSdk | undefined;
}

interface EngineSource {
  /** Known without loading the engine, so that agent files are checked quickly. */
  readonly capabilities: EngineCapabilities;
  load(settings: EngineSettings, parts: EngineParts): Promise<Engine>;
}

/** All engines. An engine is loaded with its first session, and never for another engine's. */
const SOURCES: Readonly<Record<EngineName, EngineSource>> = {
  claude: {
    capabilities: claudeCapabilities,
    load: async (settings, { sdk }) =>
      (await import("../engines/claude/engine.ts")).claudeEngine(settings, {
        createToolServer: createToolServerLazily,
        connectRemoteServer: connectRemoteServerLazily,
        sdk,
      }),
  },
  direct: {
    capabilities: directCapabilities,
    load: async (settings) =>
      (await import("../engines/direct/engine.ts")).directEngine(settings, {
        connectRemoteServer: connectRemoteServerLazily,
        connectServer: connectServerLazily,
        compileSchema,
      }),
  },
};

export function capabilitiesOf(name: EngineName): EngineCapabilities {
  return SOURCES[name].capabilities;
}

export function loadedEngines(settings: EngineSettings, parts: EngineParts = {}): Pick<Engines, "load"> {
  const loaded = new Map<EngineName, Promise<Engine>>();
  return {
    load(name) {
      const known = loaded.get(name) ?? loadEngine(name, settings, parts);
      loaded.set(name, known);
      // Missing parts may be installed while the host runs.
      known.catch(() => loaded.delete(name));
      return known;
    },
  };
}

async function loadEngine(name: EngineName, settings: EngineSettings, parts: EngineParts): Promise<Engine> {
  try {
    return await SOURCES[name].load(settings, parts);
  } catch (thrown) {
    if (thrown instanceof CapstanError) throw thrown;
    throw new CapstanError(
      "engine_missing",
      `The ${name} engine cannot be loaded: ${messageOf(thrown)}. Reinstall Capstan with all its dependencies, or use another engine.`,
      { cause: thrown },
    );
  }
}
