import { once } from "node:events";
import { userInfo } from "node:os";
import { createInterface } from "node:readline";
import { openApp } from "../../app/serve/serve-app.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { serveLines } from "../../server/http/stdio.ts";
import { usageError } from "../terminal/failure.ts";
import { hostFor } from "../target/host.ts";
import { flushLog, prepare, type ServeFlags } from "./serve-prepare.ts";
import { serverSignals } from "./serve-signals.ts";

/** Flags about the address, which has no meaning with --stdio. */
const ADDRESS_FLAGS: Readonly<Partial<Record<keyof ServeFlags, string>>> = {
  host: "--host",
  port: "--port",
  open: "--open",
  behindProxy: "--behind-proxy",
  publicUrl: "--public-url",
  tlsCert: "--tls-cert",
  tlsKey: "--tls-key",
  json: "--json",
};

/**
 * Serves the parent process over standard input and output, until it closes them or a signal arrives. `isGiven`: whether
 * the user set a flag explicitly. Returns the exit code.
 */
export async function serveParent(flags: ServeFlags, isGiven: (flag: string) => boolean): Promise<number> {
  const given = Object.entries(ADDRESS_FLAGS).flatMap(([key, flag]) => (isGiven(key) ? [flag] : []));
  if (given.length > 0)
    throw usageError(`--stdio has no address, so it cannot be combined with ${given.join(", ")}. Omit them.`);
  const graceMs = parseDuration(flags.grace);
  const { configuration, rehearsal, log, trust } = await prepare(flags);
  using signals = serverSignals();
  const served = await openApp({
    openHost: () => hostFor(configuration, rehearsal),
    configuration,
    shell: process.env,
    cwd: process.cwd(),
    log,
    trust,
    engine: flags.engine,
    access: { bound: "localhost" },
    isSecure: false,
    everybody: { project: configuration.project.id, role: "admin", id: "parent", name: userInfo().username },
  });
  const input = createInterface({ input: process.stdin, crlfDelay: Infinity });
  void signals.first.then(() => input.close());
  await serveLines({ fetch: (request) => served.app.fetch(request), headers: {}, input, output: writeLine });
  await served.suspend(graceMs);
  await flushLog(log);
  return 0;
}

/** Waits for a slow parent. */
async function writeLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}
