import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// Separate from sdk.ts, so that reading the version does not load the SDK.

export const SDK_PACKAGE = "@anthropic-ai/claude-agent-sdk";

/** The versions of the SDK and its CLI; the package does not export its manifest. */
export function sdkManifest(): { readonly version: string; readonly claudeCodeVersion: string } {
  const entry = createRequire(import.meta.url).resolve(SDK_PACKAGE);
  return manifestIn(dirname(entry)) as { version: string; claudeCodeVersion: string };
}

export function manifestIn(directory: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Record<string, unknown>;
}
