import type { Configuration } from "../config/load.ts";

/** The files that credentials were read from: a project's `.env`, what login stored, settings with a command. */
export function credentialFiles({ credentials }: Pick<Configuration, "credentials">): readonly string[] {
  return credentials.map(({ source }) => source).filter((source) => source !== "shell");
}
