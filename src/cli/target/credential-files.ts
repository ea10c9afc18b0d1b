import type { Configuration } from "../../config/load.ts";

/**
 * The files that credentials were read from: a project's `.env`, what login stored, settings with a command. Also an `.env`
 * that nobody has trusted: what is not used is no less secret.
 */
export function credentialFiles({
  credentials,
  dotEnv,
}: Pick<Configuration, "credentials" | "dotEnv">): readonly string[] {
  const files = credentials.map(({ source }) => source).filter((source) => source !== "shell");
  return dotEnv?.unused === undefined ? files : [...files, dotEnv.path];
}
