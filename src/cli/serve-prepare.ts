import type { Logger } from "pino";
import { hostRedactor } from "../app/redactor.ts";
import { type LogLevel, serverLog } from "../app/server-log.ts";
import { type Configuration, loadConfiguration } from "../config/load.ts";
import { logDestination } from "./serve-log.ts";

export interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly open?: boolean;
  readonly behindProxy?: boolean;
  readonly publicUrl?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly rehearsal?: boolean;
  readonly grace: string;
  readonly logLevel: LogLevel;
  readonly json?: boolean;
  readonly stdio?: boolean;
}

interface Prepared {
  readonly configuration: Configuration;
  readonly rehearsal: boolean;
  readonly log: Logger;
}

/** What a server needs before it can be put together, whoever it serves. */
export async function prepare({ rehearsal, logLevel }: Pick<ServeFlags, "rehearsal" | "logLevel">): Promise<Prepared> {
  const configuration = await loadConfiguration({ cwd: process.cwd(), environment: process.env, flags: {} });
  const redactor = hostRedactor(configuration.environment, configuration.settings.redact);
  return {
    configuration,
    rehearsal: rehearsal === true || configuration.credentials.length === 0,
    log: serverLog({ level: logLevel, redactor, destination: logDestination() }),
  };
}

export function flushed(log: Logger): Promise<void> {
  return new Promise((done) => log.flush(() => done()));
}
