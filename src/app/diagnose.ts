import { findContainment } from "../process/containment.ts";
import { sdkManifest } from "../engines/claude/sdk.ts";

/** What can be known of the engine without starting an agent. */
export function engineVersions(): { readonly sdk: string; readonly cli: string } {
  const { version, claudeCodeVersion } = sdkManifest();
  return { sdk: version, cli: claudeCodeVersion };
}

/** Whether what an agent starts ends with it, and it with its host, whatever happens to them. */
export async function isContained(): Promise<boolean> {
  return (await findContainment()) !== undefined;
}
