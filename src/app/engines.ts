import type { Engine, Engines } from "../core/engine.ts";
import type { EngineLacks } from "../core/engine-fit.ts";
import type { EngineName } from "../core/engine-name.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { ToolServerFactory } from "../engines/claude/engine.ts";
import type { ClaudeSdk } from "../engines/claude/sdk.ts";
import { lacks as directLacks } from "../engines/direct/lacks.ts";
import type { RemoteServerFactory } from "../mcp/remote-servers.ts";

export interface EngineSettings {
  /** Search path for the agents' commands. */
  readonly path: string;
  /** How often a failed model request is repeated. */
  readonly retries: number;
}

export interface EngineParts {
  readonly createToolServer: ToolServerFactory;
  readonly connectRemoteServer: RemoteServerFactory;
  /** For the `claude` engine. Default: the one that Capstan is made for. */
  readonly sdk?: ClaudeSdk | undefined;
}

interface EngineSource {
  /** What can be known of it without loading it: an agent file is checked in no time. */
  readonly lacks?: EngineLacks;
  load(settings: EngineSettings, parts: EngineParts): Promise<Engine>;
}

/** Every engine, one line each. What an engine needs is loaded with its first session, and never for another engine's. */
const SOURCES: Readonly<Record<EngineName, EngineSource>> = {
  claude: { load: async (...given) => (await import("../engines/claude/engine.ts")).claudeEngine(...given) },
  direct: { lacks: directLacks, load: notBuiltYet },
};

/** What an engine cannot do for an agent. */
export function lacksOf(name: EngineName): EngineLacks | undefined {
  return SOURCES[name].lacks;
}

export function loadedEngines(settings: EngineSettings, parts: EngineParts): Pick<Engines, "load"> {
  const loaded = new Map<EngineName, Promise<Engine>>();
  return {
    load(name) {
      const known = loaded.get(name) ?? loadEngine(name, settings, parts);
      loaded.set(name, known);
      // What is missing may be installed while the host runs.
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
      `The ${name} engine cannot be loaded: ${messageOf(thrown)}. Install Capstan again with all its dependencies, or choose another engine.`,
      { cause: thrown },
    );
  }
}

async function notBuiltYet(): Promise<Engine> {
  throw new CapstanError("engine_missing", "This build of Capstan has no direct engine. Choose another: claude");
}
