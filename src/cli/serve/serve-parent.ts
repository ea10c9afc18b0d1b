import { once } from "node:events";
import { userInfo } from "node:os";
import { createInterface } from "node:readline";
import { openApp } from "../../app/serve/serve-app.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { serveLines } from "../../server/http/stdio.ts";
import { usage } from "../terminal/failure.ts";
import { hostFor } from "../target/host.ts";
import { flushed, prepare, type ServeFlags } from "./serve-prepare.ts";
import { serverSignals } from "./serve-signals.ts";

/** What is about an address, and so means nothing where there is none. */
const ABOUT_ADDRESS: Readonly<Partial<Record<keyof ServeFlags, string>>> = {
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
 * Serves the process that started this one, over lines, until it closes them or a signal comes. `isGiven`: whether the
 * user gave a flag, which is no default then. Returns the exit code.
 */
export async function serveParent(flags: ServeFlags, isGiven: (flag: string) => boolean): Promise<number> {
  const pointless = Object.entries(ABOUT_ADDRESS).flatMap(([key, flag]) => (isGiven(key) ? [flag] : []));
  if (pointless.length > 0)
    throw usage(`With --stdio there is no address, so leave out what is about one: ${pointless.join(", ")}`);
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
  await flushed(log);
  return 0;
}

/** A parent that does not read is waited for. */
async function writeLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, "drain");
}
