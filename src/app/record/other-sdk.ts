import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { CapstanError } from "../../core/errors.ts";
import { type ClaudeSdk, sdkIn } from "../../engines/claude/sdk/sdk.ts";
import { SDK_PACKAGE } from "../../engines/claude/sdk/sdk-manifest.ts";

const VERSION = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/;
/** Generous, because the SDK's CLI is large. */
const INSTALL_MS = 600_000;

/** Loads the SDK from a path or of a version. A version is installed once, below Capstan's home. */
export async function otherSdk(
  given: string,
  {
    home,
    path,
    onInstall,
    signal,
  }: {
    readonly home: string;
    /** Search path for npm. */
    readonly path: string;
    readonly onInstall: (directory: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<ClaudeSdk> {
  if (existsSync(given)) return sdkIn(resolve(given));
  if (!VERSION.test(given))
    throw new CapstanError(
      "invalid_input",
      `${given} is neither a directory nor a version of ${SDK_PACKAGE} such as 0.3.325.`,
    );
  const directory = join(home, "sdks", given);
  if (!existsSync(directory)) {
    onInstall(directory);
    await install(given, { directory, path, signal });
  }
  return sdkIn(directory);
}

/**
 * Installs in a temporary directory and renames it, so that the final one is always complete. Runs no package scripts.
 */
async function install(
  version: string,
  { directory, path, signal }: { readonly directory: string; readonly path: string; readonly signal: AbortSignal },
): Promise<void> {
  const aside = `${directory}.${process.pid}.partial`;
  await mkdir(aside, { recursive: true, mode: 0o700 });
  try {
    await writeFile(join(aside, "package.json"), '{ "private": true }\n');
    const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
    await promisify(execFile)("npm", [...args, `${SDK_PACKAGE}@${version}`], {
      cwd: aside,
      env: { ...process.env, PATH: path },
      timeout: INSTALL_MS,
      signal,
    });
    await rename(aside, directory);
  } catch (thrown) {
    throw new CapstanError(
      "engine_missing",
      `${SDK_PACKAGE}@${version} could not be installed: ${lastWords(thrown)} Install it yourself with npm, and pass its directory: --sdk DIR`,
      { cause: thrown },
    );
  } finally {
    await rm(aside, { recursive: true, force: true, maxRetries: 3 });
  }
}

function lastWords(thrown: unknown): string {
  const { stderr, code } = thrown as { readonly stderr?: string; readonly code?: unknown };
  if (code === "ENOENT") return "npm is not on PATH.";
  const lines = (stderr ?? "").split("\n").filter((line) => /^npm (?:error|ERR!) (?!A complete log)/.test(line));
  return lines.length === 0
    ? `npm failed (${String(code)}).`
    : lines
        .map((line) => line.replace(/^npm (?:error|ERR!) /, "").trim())
        .slice(0, 3)
        .join(" ");
}
