import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  environmentDefinition,
  type EnvironmentInput,
  type WorkspaceSettings,
} from "../../src/core/environment/environment.ts";
import type { CapstanError } from "../../src/core/errors.ts";
import type { WorkspaceLocation, WorkspaceRequest, Workspaces } from "../../src/core/ports/workspace.ts";
import { createWorkspaces, type WorkspacesOptions } from "../../src/workspace/workspaces.ts";

/** A machine of its own: a home, Capstan's home, and a directory to start sessions in. */
export interface Site extends Disposable {
  readonly path: string;
  readonly home: string;
  readonly capstanHome: string;
  readonly root: string;
  readonly source: string;
  readonly workspaces: Workspaces;
  withOptions(options: Partial<WorkspacesOptions>): Workspaces;
  request(workspace: EnvironmentInput["workspace"], sessionId?: string): WorkspaceRequest;
}

export function site(): Site {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "capstan-workspace-")));
  const [home, source] = [join(path, "home"), join(path, "project")];
  const capstanHome = join(home, ".capstan");
  const root = join(capstanHome, "workspaces");
  for (const directory of [home, source, capstanHome]) mkdirSync(directory);
  const withOptions: Site["withOptions"] = (options) =>
    createWorkspaces({ root, mountRoots: [], home, capstanHome, openShadow: noShadow, ...options });
  return {
    path,
    home,
    capstanHome,
    root,
    source,
    workspaces: withOptions({}),
    withOptions,
    request: (workspace, sessionId = "session-1") => ({ sessionId, source, workspace: settingsOf(workspace) }),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function noShadow(): never {
  throw new Error("These tests have no checkpoints.");
}

function settingsOf(workspace: EnvironmentInput["workspace"]): WorkspaceSettings {
  return environmentDefinition.parse({ workspace }).workspace;
}

export function placeOf(
  request: WorkspaceRequest,
  made: { readonly cwd: string; readonly source: string },
): WorkspaceLocation {
  return { sessionId: request.sessionId, kind: request.workspace.kind, cwd: made.cwd, source: made.source };
}

/** Files by their paths, with their directories. */
export function write(directory: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
}

const GIT_ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_OPTIONAL_LOCKS: "0",
  LC_ALL: "C",
};

export function gitIn(cwd: string, ...args: readonly string[]): string {
  const identity = [
    "-c",
    "user.name=Tester",
    "-c",
    "user.email=tester@example.invalid",
    "-c",
    "protocol.file.allow=always",
  ];
  const options = { cwd, env: GIT_ENVIRONMENT, encoding: "utf8", stdio: "pipe" } as const;
  return execFileSync("git", [...identity, ...args], options);
}

export function makeRepository(directory: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  mkdirSync(directory, { recursive: true });
  gitIn(directory, "init", "--quiet", "--initial-branch=main");
  write(directory, files);
  gitIn(directory, "add", "--all");
  gitIn(directory, "commit", "--quiet", "--allow-empty", "--message", "first");
}

/** What lies in a directory, byte for byte: path → kind, mode, time and contents. Names are shown as Latin-1. */
export function treeOf(directory: string | Buffer, options: { times?: boolean } = {}): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (path: Buffer, at: string): void => {
    for (const name of readdirSync(path, { encoding: "buffer" })) {
      const full = Buffer.concat([path, Buffer.from("/"), name]);
      const shown = `${at}${name.toString("latin1")}`;
      const stats = lstatSync(full);
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isDirectory()) {
        found[`${shown}/`] = mode;
        visit(full, `${shown}/`);
      } else if (stats.isSymbolicLink()) found[shown] = `-> ${readlinkSync(full)}`;
      else if (stats.isFile())
        found[shown] = [mode, options.times === true ? stats.mtimeMs : "", hash(readFileSync(full))].join(" ");
      else found[shown] = "special";
    }
  };
  if (existsSync(directory)) visit(Buffer.from(directory), "");
  return found;
}

function hash(content: Buffer): string {
  return createHash("sha256").update(content).digest("base64");
}

export function filesOf(directory: string): string[] {
  return Object.keys(treeOf(directory))
    .filter((path) => !path.endsWith("/"))
    .toSorted();
}

/** What a promise rejects with. */
export async function failureOf(work: Promise<unknown>): Promise<CapstanError> {
  try {
    await work;
  } catch (error) {
    return error as CapstanError;
  }
  throw new Error("It did not fail.");
}

export interface GitServer extends AsyncDisposable {
  readonly port: number;
  /** Settles with the first request. */
  readonly asked: Promise<void>;
  /** How many requests had the right password. */
  countAccepted(): number;
}

/** Serves a repository over https, on loopback, as plain files; with a password, or without ever answering. */
export async function gitServer(
  repository: string,
  {
    user = "",
    password = "",
    silent = false,
    redirected,
  }: { user?: string; password?: string; silent?: boolean; redirected?: string },
): Promise<GitServer> {
  gitIn(repository, "update-server-info");
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const asked = Promise.withResolvers<void>();
  let accepted = 0;
  const server = createServer(certificate(), (request, response) => {
    asked.resolve();
    if (silent) return;
    if (redirected !== undefined) return void response.writeHead(302, { location: redirected }).end();
    const file = join(repository, ".git", new URL(request.url ?? "", "https://x").pathname.replace("/repository/", ""));
    const { authorization } = request.headers;
    // Git shows what a server says, and this one says what it was told.
    const repeated = Buffer.from(authorization?.slice("Basic ".length) ?? "", "base64");
    if (authorization === undefined) response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
    else if (authorization !== expected) response.writeHead(403, { "content-type": "text/plain" }).end(repeated);
    else if (existsSync(file)) response.end(readFileSync(file));
    else response.writeHead(404).end();
    if (authorization === expected) accepted++;
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    asked: asked.promise,
    countAccepted: () => accepted,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Signed by itself: enough for a client that does not check it. */
function certificate(): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from("2a8648ce3d040302", "hex")));
  const commonName = der(0x30, der(0x06, Buffer.from("550403", "hex")), der(0x0c, Buffer.from("localhost")));
  const name = der(0x30, der(0x31, commonName));
  const validity = der(0x30, der(0x17, Buffer.from("200101000000Z")), der(0x17, Buffer.from("491231235959Z")));
  const spki = publicKey.export({ type: "spki", format: "der" });
  const serial = der(0x02, Buffer.from([1]));
  const body = der(0x30, serial, ecdsaWithSha256, name, validity, name, spki);
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const lines = der(0x30, body, ecdsaWithSha256, signature).toString("base64").replaceAll(/.{64}/g, "$&\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}
