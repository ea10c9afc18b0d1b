import { findContainment } from "../engines/claude/process.ts";
import { sdkManifest } from "../engines/claude/sdk.ts";

/** What can be known of the engine without starting an agent. */
export function diagnoseEngine(): { readonly sdk: string; readonly cli: string; readonly contained: boolean } {
  const { version, claudeCodeVersion } = sdkManifest();
  return { sdk: version, cli: claudeCodeVersion, contained: findContainment() !== undefined };
}
