import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { createSecureContext } from "node:tls";
import type { Logger } from "pino";
import { type RunningServer, serve } from "../../app/serve/serve.ts";
import { parseDuration } from "../../core/text/duration.ts";
import type { Configuration, Trusting } from "../../config/load.ts";
import { messageOf } from "../../core/errors.ts";
import { usageError } from "../terminal/failure.ts";
import { hostFor } from "../target/host.ts";
import { banner, type BannerData } from "./serve-banner.ts";
import { flushLog, prepare, type ServeFlags } from "./serve-prepare.ts";
import { serverSignals } from "./serve-signals.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

/** Serves until a signal arrives. Returns the exit code. */
export async function serveCommand(flags: ServeFlags): Promise<number> {
  const graceMs = parseDuration(flags.grace);
  const address = addressOf(flags);
  const { configuration, rehearsal, log, trust } = await prepare(flags);
  using signals = serverSignals();
  const server = await start(flags, { configuration, rehearsal, address, log, trust });
  printAddresses(server, flags, { configuration, rehearsal, wasRequested: flags.rehearsal === true });
  if (flags.open === true) openBrowser(server.loginUrl);
  await signals.first;
  process.stderr.write(`Shutting down. Running turns have ${flags.grace} to finish; press Ctrl-C again to exit now.\n`);
  await server.suspend(graceMs);
  await flushLog(log);
  process.stderr.write("Stopped. Interrupted turns, if any, continue at the next start.\n");
  return 0;
}

interface Address {
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly publicUrl: URL | undefined;
}

function addressOf({ tlsCert, tlsKey, publicUrl, behindProxy }: ServeFlags): Address {
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw usageError("TLS needs a certificate and its key. Use --tls-cert and --tls-key together.");
  if (behindProxy === true && publicUrl === undefined)
    throw usageError(
      "--behind-proxy needs the server's public address. Add --public-url, such as https://agents.example.org",
    );
  const url = publicUrl === undefined ? undefined : URL.parse(publicUrl);
  if (
    url === null ||
    (url !== undefined && (!/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search !== ""))
  )
    throw usageError(`--public-url ${publicUrl} must be an address without a path, such as https://agents.example.org`);
  if (behindProxy === true && url?.protocol !== "https:")
    throw usageError(
      `--public-url ${publicUrl} is not encrypted, but --behind-proxy needs TLS. Use the proxy's https address, or omit --behind-proxy.`,
    );
  return { publicUrl: url, tls: tlsCert === undefined || tlsKey === undefined ? undefined : readTls(tlsCert, tlsKey) };
}

function readTls(certFile: string, keyFile: string): NonNullable<Address["tls"]> {
  try {
    const tls = { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
    createSecureContext(tls);
    return tls;
  } catch (thrown) {
    throw usageError(
      `Cannot use ${certFile} and ${keyFile} for TLS: ${messageOf(thrown)}. They must be a certificate and its key in PEM format.`,
    );
  }
}

async function start(
  flags: ServeFlags,
  {
    configuration,
    rehearsal,
    address,
    log,
    trust,
  }: {
    readonly configuration: Configuration;
    readonly rehearsal: boolean;
    readonly address: Address;
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
      ...address,
      behindProxy: flags.behindProxy === true,
      openMetrics: configuration.settings.server.open_metrics === true,
      log,
      trust,
      engine: flags.engine,
    });
  } catch (thrown) {
    throw withNextStep(thrown, flags);
  }
}

const MAX_PORT = 65_535;

/** Explains Node's error about a port. Keeps its code, which leads to exit code 3. */
function withNextStep(thrown: unknown, { host, port }: ServeFlags): unknown {
  const { code } = thrown as NodeJS.ErrnoException;
  const messages: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is already in use. Choose another: capstan serve --port ${port < MAX_PORT ? port + 1 : port - 1}. Or let Capstan pick one: --port 0`,
    EACCES: `You do not have permission to listen on port ${port}. Choose one above 1023: capstan serve --port 4310`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Omit --host, or use one of its addresses.`,
    ENOTFOUND: `Cannot resolve ${host}. Use an address, such as 127.0.0.1.`,
  };
  const message = messages[code ?? ""];
  if (message === undefined) return thrown;
  return Object.assign(new Error(message, { cause: thrown }), { code });
}

function printAddresses(
  { url, loginUrl }: RunningServer,
  { json }: ServeFlags,
  {
    configuration,
    rehearsal,
    wasRequested,
  }: Pick<BannerData, "rehearsal" | "wasRequested"> & { readonly configuration: Configuration },
): void {
  const project = configuration.project.id;
  const data = { url, loginUrl, project, rehearsal, wasRequested };
  process.stdout.write(
    json === true
      ? `${hiddenFreeJson({ url, login_url: loginUrl, project, rehearsal, pid: process.pid })}\n`
      : banner(data),
  );
}

function openBrowser(url: string): void {
  const command = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(command, [url], { stdio: "ignore", detached: true });
  child.on("error", () => process.stderr.write(`capstan: ${command} not found. Open the address yourself.\n`));
  child.unref();
}
