import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { query, startup } from "@anthropic-ai/claude-agent-sdk";
import { CapstanError, messageOf } from "../../../core/errors.ts";
import { manifestIn, SDK_PACKAGE, sdkManifest } from "./sdk-manifest.ts";

/** The parts of the Claude Agent SDK that the engine needs. Each SDK version has its own CLI next to it. */
export interface ClaudeSdk {
  readonly version: string;
  readonly query: typeof query;
  readonly startup: typeof startup;
}

/** The version that Capstan pins. */
export function pinnedSdk(): ClaudeSdk {
  return { version: sdkManifest().version, query, startup };
}

/** The SDK in a directory, or installed there. */
export async function sdkIn(directory: string): Promise<ClaudeSdk> {
  const place = [directory, join(directory, "node_modules", SDK_PACKAGE)].find(
    (candidate) => existsSync(join(candidate, "package.json")) && manifestIn(candidate)["name"] === SDK_PACKAGE,
  );
  if (place === undefined)
    throw new CapstanError(
      "invalid_input",
      `No ${SDK_PACKAGE} found in ${directory}. Pass the package's own directory, a directory that has it in node_modules, or a version such as ${sdkManifest().version}.`,
    );
  const { version, main } = manifestIn(place);
  try {
    const found = (await import(pathToFileURL(join(place, String(main))).href)) as Partial<ClaudeSdk>;
    if (typeof found.query === "function" && typeof found.startup === "function")
      return { version: String(version), query: found.query, startup: found.startup };
  } catch (thrown) {
    throw new CapstanError(
      "engine_failed",
      `Cannot load SDK ${String(version)} from ${place}: ${messageOf(thrown)}. Install it with its dependencies: npm install ${SDK_PACKAGE}@${String(version)}`,
      { cause: thrown },
    );
  }
  throw new CapstanError(
    "unsupported",
    `SDK ${String(version)} does not export \`query\` and \`startup\`, which Capstan needs. Choose a later version.`,
  );
}
