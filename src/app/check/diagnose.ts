import type { EngineName } from "../../core/agent/engine-name.ts";
import { findContainment } from "../../process/containment.ts";
import { sdkManifest } from "../../engines/claude/sdk/sdk-manifest.ts";
import { loadedEngines } from "../engines.ts";

/** Loads an engine and describes it. Rejects with the reason and the remedy if it cannot be used here. */
export async function describeEngine(name: EngineName, path: string): Promise<string> {
  const engines = loadedEngines({ path, retries: 0 });
  const { version } = await engines.load(name);
  return name === "claude"
    ? `Claude Agent SDK ${version}, its CLI ${engineVersions().cli}`
    : `built in, version ${version}`;
}

/** Facts about the Claude engine that need no loading. */
export function engineVersions(): { readonly sdk: string; readonly cli: string } {
  const { version, claudeCodeVersion } = sdkManifest();
  return { sdk: version, cli: claudeCodeVersion };
}

/** Whether everything that an agent starts ends with it, and the agent with its host, even after a crash. */
export async function isContained(): Promise<boolean> {
  return (await findContainment()) !== undefined;
}
