import type { Configuration } from "../../config/load.ts";

/**
 * The files that contain credentials: a project's `.env`, the file that `auth login` writes, settings with a command.
 * Includes an untrusted `.env`: its values are unused but still secret.
 */
export function credentialFiles({
  credentials,
  dotEnv,
}: Pick<Configuration, "credentials" | "dotEnv">): readonly string[] {
  const files = credentials.map(({ source }) => source).filter((source) => source !== "shell");
  return dotEnv?.unused === undefined ? files : [...files, dotEnv.path];
}
