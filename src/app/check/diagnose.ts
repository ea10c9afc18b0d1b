import type { EngineName } from "../../core/agent/engine-name.ts";
import { findContainment } from "../../process/containment.ts";
import { sdkManifest } from "../../engines/claude/sdk/sdk-manifest.ts";
import { loadedEngines } from "../engines.ts";

/** Loads an engine and tells what it is. Rejects with why it cannot be used here, and what to do. */
export async function describeEngine(name: EngineName, path: string): Promise<string> {
  const engines = loadedEngines({ path, retries: 0 });
  const { version } = await engines.load(name);
  return name === "claude"
    ? `Claude Agent SDK ${version}, its CLI ${engineVersions().cli}`
    : `built in, version ${version}`;
}

/** What can be known of the Claude engine without loading it. */
export function engineVersions(): { readonly sdk: string; readonly cli: string } {
  const { version, claudeCodeVersion } = sdkManifest();
  return { sdk: version, cli: claudeCodeVersion };
}

/** Whether what an agent starts ends with it, and it with its host, whatever happens to them. */
export async function isContained(): Promise<boolean> {
  return (await findContainment()) !== undefined;
}
