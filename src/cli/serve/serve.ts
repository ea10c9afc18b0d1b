import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { createSecureContext } from "node:tls";
import type { Logger } from "pino";
import { type RunningServer, serve } from "../../app/serve/serve.ts";
import { parseDuration } from "../../core/text/duration.ts";
import type { Configuration, Trusting } from "../../config/load.ts";
import { messageOf } from "../../core/errors.ts";
import { usage } from "../terminal/failure.ts";
import { hostFor } from "../target/host.ts";
import { banner, type Told } from "./serve-banner.ts";
import { flushed, prepare, type ServeFlags } from "./serve-prepare.ts";
import { serverSignals } from "./serve-signals.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

/** Serves until a signal comes. Returns the exit code. */
export async function serveCommand(flags: ServeFlags): Promise<number> {
  const graceMs = parseDuration(flags.grace);
  const place = placeOf(flags);
  const { configuration, rehearsal, log, trust } = await prepare(flags);
  using signals = serverSignals();
  const server = await start(flags, { configuration, rehearsal, place, log, trust });
  tell(server, flags, { configuration, rehearsal, wasAsked: flags.rehearsal === true });
  if (flags.open === true) openBrowser(server.loginUrl);
  await signals.first;
  process.stderr.write(`Shutting down: turns may finish for ${flags.grace}. Once more leaves at once.\n`);
  await server.suspend(graceMs);
  await flushed(log);
  process.stderr.write("Stopped. Turns that were cut, if any, go on at the next start.\n");
  return 0;
}

interface Place {
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly publicUrl: URL | undefined;
}

function placeOf({ tlsCert, tlsKey, publicUrl, behindProxy }: ServeFlags): Place {
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw usage("TLS needs a certificate and its key. Give --tls-cert and --tls-key together.");
  if (behindProxy === true && publicUrl === undefined)
    throw usage(
      "Behind a proxy the server must know its address. Give --public-url, such as https://agents.example.org",
    );
  const url = publicUrl === undefined ? undefined : URL.parse(publicUrl);
  if (
    url === null ||
    (url !== undefined && (!/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search !== ""))
  )
    throw usage(`--public-url ${publicUrl} must be an address such as https://agents.example.org, without a path.`);
  if (behindProxy === true && url?.protocol !== "https:")
    throw usage(
      `--public-url ${publicUrl} is not encrypted, and --behind-proxy says that a proxy does the TLS. Give its https address, or leave --behind-proxy out.`,
    );
  return { publicUrl: url, tls: tlsCert === undefined || tlsKey === undefined ? undefined : readTls(tlsCert, tlsKey) };
}

function readTls(certFile: string, keyFile: string): NonNullable<Place["tls"]> {
  try {
    const tls = { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
    createSecureContext(tls);
    return tls;
  } catch (thrown) {
    throw usage(
      `${certFile} and ${keyFile} cannot be used for TLS: ${messageOf(thrown)}. They must be a certificate and its key, both in PEM format.`,
    );
  }
}

async function start(
  flags: ServeFlags,
  {
    configuration,
    rehearsal,
    place,
    log,
    trust,
  }: {
    readonly configuration: Configuration;
    readonly rehearsal: boolean;
    readonly place: Place;
    readonly log: Logger;
    readonly trust: Trusting;
  },
): Promise<RunningServer> {
  try {
    return await serve({
      openHost: () => hostFor(configuration, rehearsal),
      configuration,
      shell: process.env,
      cwd: process.cwd(),
      person: userInfo().username,
      bind: flags.host,
      port: flags.port,
      ...place,
      behindProxy: flags.behindProxy === true,
      openMetrics: configuration.settings.server.open_metrics === true,
      log,
      trust,
      engine: flags.engine,
    });
  } catch (thrown) {
    throw explained(thrown, flags);
  }
}

const MAX_PORT = 65_535;

/** What Node says of a port, with the next step. Its code stays: the exit code is that of a failure of the machine. */
function explained(thrown: unknown, { host, port }: ServeFlags): unknown {
  const { code } = thrown as NodeJS.ErrnoException;
  const said: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is taken. Choose another: capstan serve --port ${port < MAX_PORT ? port + 1 : port - 1}. Or any that is free: --port 0`,
    EACCES: `This user may not listen on port ${port}. Choose one above 1023: capstan serve --port 4310`,
    EADDRNOTAVAIL: `${host} is no address of this machine. Leave --host out, or give one that is.`,
    ENOTFOUND: `${host} is no name that this machine can resolve. Give an address, such as 127.0.0.1.`,
  };
  const message = said[code ?? ""];
  if (message === undefined) return thrown;
  return Object.assign(new Error(message, { cause: thrown }), { code });
}

function tell(
  { url, loginUrl }: RunningServer,
  { json }: ServeFlags,
  {
    configuration,
    rehearsal,
    wasAsked,
  }: Pick<Told, "rehearsal" | "wasAsked"> & { readonly configuration: Configuration },
): void {
  const project = configuration.project.id;
  const told = { url, loginUrl, project, rehearsal, wasAsked };
  process.stdout.write(
    json === true
      ? `${hiddenFreeJson({ url, login_url: loginUrl, project, rehearsal, pid: process.pid })}\n`
      : banner(told),
  );
}

function openBrowser(url: string): void {
  const command = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(command, [url], { stdio: "ignore", detached: true });
  child.on("error", () => process.stderr.write(`capstan: ${command} is not there; open the address yourself.\n`));
  child.unref();
}
