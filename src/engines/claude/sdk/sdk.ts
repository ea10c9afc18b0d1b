import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { query, startup } from "@anthropic-ai/claude-agent-sdk";
import { CapstanError, messageOf } from "../../../core/errors.ts";
import { manifestIn, SDK_PACKAGE, sdkManifest } from "./sdk-manifest.ts";

/** What the engine needs of the Claude Agent SDK. Each has its own CLI, and finds it beside itself. */
export interface ClaudeSdk {
  readonly version: string;
  readonly query: typeof query;
  readonly startup: typeof startup;
}

/** The one that this version of Capstan is made for. */
export function pinnedSdk(): ClaudeSdk {
  return { version: sdkManifest().version, query, startup };
}

/** The SDK that lies in a directory, or is installed there. */
export async function sdkIn(directory: string): Promise<ClaudeSdk> {
  const place = [directory, join(directory, "node_modules", SDK_PACKAGE)].find(
    (candidate) => existsSync(join(candidate, "package.json")) && manifestIn(candidate)["name"] === SDK_PACKAGE,
  );
  if (place === undefined)
    throw new CapstanError(
      "invalid_input",
      `There is no ${SDK_PACKAGE} in ${directory}. Give its own directory, one that has it in node_modules, or a version such as ${sdkManifest().version}.`,
    );
  const { version, main } = manifestIn(place);
  try {
    const found = (await import(pathToFileURL(join(place, String(main))).href)) as Partial<ClaudeSdk>;
    if (typeof found.query === "function" && typeof found.startup === "function")
      return { version: String(version), query: found.query, startup: found.startup };
  } catch (thrown) {
    throw new CapstanError(
      "engine_failed",
      `The SDK ${String(version)} in ${place} cannot be loaded: ${messageOf(thrown)}. Install it with all it needs: npm install ${SDK_PACKAGE}@${String(version)}`,
      { cause: thrown },
    );
  }
  throw new CapstanError(
    "unsupported",
    `The SDK ${String(version)} has no query and startup, which Capstan needs. Choose a later version.`,
  );
}
