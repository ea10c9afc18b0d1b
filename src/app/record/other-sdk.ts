import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { CapstanError } from "../../core/errors.ts";
import { type ClaudeSdk, sdkIn } from "../../engines/claude/sdk/sdk.ts";
import { SDK_PACKAGE } from "../../engines/claude/sdk/sdk-manifest.ts";

const VERSION = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/;
/** The CLI that comes with it is large. */
const INSTALL_MS = 600_000;

/** The SDK that a path or a version stands for. A version is installed once, below Capstan's home. */
export async function otherSdk(
  given: string,
  {
    home,
    path,
    onInstall,
    signal,
  }: {
    readonly home: string;
    /** Where npm is looked for. */
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

/** Beside, and then renamed: a directory of that name is always whole. No script of any package is run. */
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
      `${SDK_PACKAGE}@${version} could not be installed: ${lastWords(thrown)} Install it yourself with npm, and give its directory: --sdk DIR`,
      { cause: thrown },
    );
  } finally {
    await rm(aside, { recursive: true, force: true, maxRetries: 3 });
  }
}

function lastWords(thrown: unknown): string {
  const { stderr, code } = thrown as { readonly stderr?: string; readonly code?: unknown };
  if (code === "ENOENT") return "there is no npm on PATH.";
  const lines = (stderr ?? "").split("\n").filter((line) => /^npm (?:error|ERR!) (?!A complete log)/.test(line));
  return lines.length === 0
    ? `npm failed (${String(code)}).`
    : lines
        .map((line) => line.replace(/^npm (?:error|ERR!) /, "").trim())
        .slice(0, 3)
        .join(" ");
}
