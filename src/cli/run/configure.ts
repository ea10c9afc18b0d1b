import { resolve } from "node:path";
import { type Configuration, loadConfiguration, type Trusting } from "../../config/load.ts";
import { problemsWith, requireSupported } from "../agents/agent-check.ts";
import { trustingFor } from "../trust/trust-flags.ts";
import { reportWithheld } from "../trust/trust-view.ts";
import { isAgentId, type RunFlags, settingFlags } from "./run-flags.ts";

interface ConfigureOptions {
  /** Whether the session runs on a server. `--cwd` then names a directory there, and the server checks the agent. */
  readonly isRemote?: boolean;
  /** Default: what is trusted already, and what the person at the terminal trusts now. */
  readonly trust?: Trusting;
}

/** Loads the settings and the agent file of this machine, for a session here or on a server. */
export async function configure(
  flags: RunFlags,
  { isRemote = false, trust }: ConfigureOptions = {},
): Promise<Configuration> {
  const { agent } = flags;
  const configuration = await loadConfiguration({
    cwd: isRemote ? process.cwd() : resolve(flags.cwd),
    environment: process.env,
    agentFile: agent === undefined || (isRemote && isAgentId(agent)) ? undefined : resolve(agent),
    ...(!isRemote && { problemsWith }),
    trust: trust ?? (await trustingFor(flags)),
    flags: settingFlags(flags),
  });
  // A local host reports this itself.
  if (isRemote) reportWithheld(configuration);
  else requireSupported(configuration, flags.rehearsal);
  return configuration;
}
