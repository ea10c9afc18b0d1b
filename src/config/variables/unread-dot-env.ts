import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Variables } from "./variables.ts";

interface DotEnvDirectories {
  /** Where the command runs. */
  readonly cwd: string;
  /** The user's Capstan home, which belongs to no project. */
  readonly home: string;
  readonly dotEnv: Variables["dotEnv"];
}

/**
 * People put a key into the `.env` next to an agent file. Says why it is not read, and what to do; undefined if it is.
 */
export function unreadDotEnv(agentFile: string, { cwd, home, dotEnv }: DotEnvDirectories): string | undefined {
  const directory = realPath(dirname(agentFile));
  const file = join(directory, ".env");
  if (!existsSync(file) || dotEnv?.path === file) return undefined;
  const marker = join(directory, ".capstan");
  const isHome = marker === realPath(home);
  const why = dotEnv === undefined ? "there is no project here" : `the project here has another one, ${dotEnv.path}`;
  const steps = [
    ...(existsSync(marker) ? [] : [`mkdir ${marker}`]),
    ...(realPath(cwd) === directory ? [] : [`cd ${directory}`]),
  ];
  const remedy = isHome ? "Set its variables in the shell" : `To use it: ${steps.join(" && ")}`;
  return `${file} is not read: ${why}. ${remedy}`;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
