import type { Logger } from "pino";
import { hostRedactor } from "../../app/host/redactor.ts";
import { type LogLevel, serverLog } from "../../app/serve/server-log.ts";
import { type Configuration, loadConfiguration, type Trusting } from "../../config/load.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import { trustFromStart } from "../../config/trust/recorded-trust.ts";
import { logDestination } from "./serve-log.ts";
import { requirePerson } from "../terminal/person.ts";
import { trustingFor } from "../trust/trust-flags.ts";

export interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly open?: boolean;
  readonly behindProxy?: boolean;
  readonly publicUrl?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly engine?: EngineName;
  readonly rehearsal?: boolean;
  readonly trust?: boolean;
  readonly grace: string;
  readonly logLevel: LogLevel;
  readonly json?: boolean;
  readonly stdio?: boolean;
}

interface Prepared {
  readonly configuration: Configuration;
  readonly rehearsal: boolean;
  readonly log: Logger;
  /** What later sessions treat as trusted. */
  readonly trust: Trusting;
}

/** Loads what a server needs, whether it listens or serves its parent. */
export async function prepare(
  flags: Pick<ServeFlags, "engine" | "rehearsal" | "logLevel" | "trust">,
): Promise<Prepared> {
  // Starting a server makes the user its admin.
  await requirePerson("capstan serve", "become the admin of a server");
  const { engine, rehearsal, logLevel } = flags;
  const given = { cwd: process.cwd(), environment: process.env, flags: { engine } };
  const configuration = await loadConfiguration({ ...given, trust: await trustingFor(flags, { isAsking: false }) });
  const { home, trust } = configuration;
  const redactor = hostRedactor(
    { ...configuration.dotEnv?.unused, ...configuration.environment },
    configuration.settings.redact,
  );
  return {
    configuration,
    rehearsal: rehearsal === true || configuration.credentials.length === 0,
    log: serverLog({ level: logLevel, redactor, destination: logDestination() }),
    trust: trustFromStart(home, flags.trust === true ? trust.map(({ item }) => item) : [], new Date()),
  };
}

export function flushLog(log: Logger): Promise<void> {
  return new Promise((done) => log.flush(() => done()));
}
