import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// Apart from sdk.ts: to know its version nobody has to load the SDK.

export const SDK_PACKAGE = "@anthropic-ai/claude-agent-sdk";

/** The versions of the SDK and of its CLI; the package does not let its manifest be imported. */
export function sdkManifest(): { readonly version: string; readonly claudeCodeVersion: string } {
  const entry = createRequire(import.meta.url).resolve(SDK_PACKAGE);
  return manifestIn(dirname(entry)) as { version: string; claudeCodeVersion: string };
}

export function manifestIn(directory: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Record<string, unknown>;
}
