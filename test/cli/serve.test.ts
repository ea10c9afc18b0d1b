import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { afterEach, expect, test } from "vitest";
import { CTRL_C, terminal } from "./ask-terminal.ts";
import { type Cli, collect, exitOf, testCli } from "../support/cli.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";
import { TEST_CERTIFICATE } from "../server/base-certificate.ts";

interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  readonly url: string;
  readonly loginUrl: string;
  readonly rehearsal: boolean;
  readonly stderr: { readonly text: string };
}

/** An answer that never comes. */
const NEVER = say("never", { delay: new Promise(() => {}) });

/** A server on a port of its own, as programs start it. */
async function startServer(cli: Cli, ...flags: string[]): Promise<Started> {
  return waitForAnnouncement(cli.start(["serve", "--port", "0", "--json", ...flags]));
}

/** What a test that failed has left behind. */
const children: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function waitForAnnouncement(child: ChildProcessWithoutNullStreams): Promise<Started> {
  children.push(child);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  await expect
    .poll(() => (child.exitCode === null ? stdout.text : stderr.text), { timeout: 20_000 })
    .toMatch(/\{.*\}\n/);
  const {
    url,
    login_url: loginUrl,
    rehearsal,
  } = JSON.parse(/\{.*\}/.exec(stdout.text)?.[0] ?? "") as {
    url: string;
    login_url: string;
    rehearsal: boolean;
  };
  return { child, url, loginUrl, rehearsal, stderr };
}

async function stopServer(
  { child }: Pick<Started, "child">,
  signal: NodeJS.Signals = "SIGTERM",
): Promise<number | null> {
  child.kill(signal);
  return exitOf(child);
}

test("a person starts it, logs in with the printed address, and stops it", async () => {
  using cli = testCli();
  const child = cli.start(["serve", "--port", "0"]);
  children.push(child);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  await expect.poll(() => stdout.text, { timeout: 20_000 }).toContain("Ctrl-C");
  for (const line of stdout.text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(stdout.text).toContain("REHEARSAL: no credentials found");
  expect(stdout.text).toContain("capstan keys create --role admin");
  const [loginUrl = ""] = /http:\S+\/login\?token=\S+/.exec(stdout.text) ?? [];
  const login = await fetch(loginUrl, { redirect: "manual" });
  expect(login.status).toBe(302);
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const who = await fetch(new URL("/api/whoami", loginUrl), { headers: { cookie } });
  expect(await who.json()).toMatchObject({ id: "browser", role: "admin", project: "default" });
  expect(statSync(join(cli.home, ".capstan", "server-secret")).mode & 0o777).toBe(0o600);

  expect(await stopServer({ child }, "SIGINT")).toBe(0);
  expect(stderr.text).toContain("Shutting down");
  expect(stderr.text).toContain("Stopped. Interrupted turns, if any, continue");
  const lines = stderr.text.split("\n").filter((line) => line.startsWith("{"));
  expect(lines.map((line) => (JSON.parse(line) as { path: string }).path)).toEqual(["/login", "/api/whoami"]);
  expect(stderr.text).not.toContain(loginUrl.split("token=")[1]);

  // A login holds beyond a restart.
  const again = await startServer(cli);
  expect((await fetch(`${again.url}/api/whoami`, { headers: { cookie } })).status).toBe(200);
  expect(await stopServer(again)).toBe(0);
});

test("at a terminal the log is short lines, and Ctrl-C stops it", async () => {
  using cli = testCli();
  await using screen = terminal(cli, ["serve", "--port", "0"]);
  await screen.sees("Ctrl-C");
  const [url = ""] = /http:\/\/[\d.]+:\d+/.exec(screen.text) ?? [];
  await fetch(`${url}/health?secret=hidden`);
  await screen.sees("GET /health 200");
  const refused = await fetch(`${url}/v1/ck_${"x".repeat(43)}`);
  await screen.sees("GET /v1/[redacted:key] 401");
  // What a client was told to report can be found.
  await screen.sees(refused.headers.get("request-id") ?? "no id");
  screen.type(CTRL_C);
  await screen.sees("Shutting down. Running turns have 20s to finish");
  expect(await screen.end()).toBe(0);
  expect(screen.text).not.toContain("hidden");
});

test("Ctrl-C at a terminal is for the server: a turn under way finishes, and no agent is told of it", async () => {
  const { promise: answer, resolve: goOn } = Promise.withResolvers<void>();
  await using model = await scriptedModel(() => ({ ...say("Finished."), delay: answer }));
  using cli = testCli(model.url);
  const key = (await cli.run(["keys", "create", "--role", "admin"])).stdout.trim();
  const headers = { "x-api-key": key, "content-type": "application/json" };
  // In a group of its own, all of which gets the signal, as from a terminal.
  const child = cli.start(["serve", "--port", "0", "--json"], { within: ["setsid"] });
  const { url } = await waitForAnnouncement(child);
  const made = await fetch(`${url}/api/sessions`, { method: "POST", headers, body: '{"message":"Work on it."}' });
  const { id } = (await made.json()) as { id: string };
  await until(
    () => model.requests.length,
    (count) => count > 0,
  );
  process.kill(-(child.pid ?? 0), "SIGINT");
  await expect.poll(() => fetch(`${url}/health`).catch(() => "gone")).toBe("gone");
  goOn();
  expect(await exitOf(child)).toBe(0);
  const { stdout } = await cli.run(["sessions", "show", id, "--json"]);
  expect(stdout).toContain("Finished.");
  expect(stdout).not.toContain("capstan.process_lost");
});

test("a turn that a shutdown cuts is gone on with by the next start, and streams end with a word", async () => {
  let isReady = false;
  await using model = await scriptedModel(() => (isReady ? say("Done after all.") : NEVER));
  using cli = testCli(model.url);
  const key = (await cli.run(["keys", "create", "--role", "admin"])).stdout.trim();
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const first = await startServer(cli, "--grace", "100ms");
  expect(first.rehearsal).toBe(false);
  const made = await fetch(`${first.url}/api/sessions`, { method: "POST", headers, body: '{"message":"Work on it."}' });
  expect(made.status).toBe(201);
  const { id } = (await made.json()) as { id: string };
  await until(
    () => model.requests.length,
    (count) => count > 0,
  );
  const stream = await fetch(`${first.url}/api/sessions/${id}/stream`, { headers });
  const heard = stream.text();
  expect(await stopServer(first)).toBe(0);
  expect(await heard).toContain(": the server is shutting down; reconnect with Last-Event-ID");

  isReady = true;
  const second = await startServer(cli);
  const session = await until(
    async () => (await (await fetch(`${second.url}/api/sessions/${id}`, { headers })).json()) as { status: string },
    ({ status }) => status === "idle",
  );
  expect(session).toMatchObject({ state: { stop_reason: { type: "end_turn" } } });
  expect(model.requests.at(-1)?.transcript).toContain("Work on it.");
  expect(await stopServer(second)).toBe(0);
});

test("a second signal leaves at once", async () => {
  await using model = await scriptedModel(() => NEVER);
  using cli = testCli(model.url);
  const key = (await cli.run(["keys", "create", "--role", "admin"])).stdout.trim();
  const server = await startServer(cli, "--grace", "10m", "--log-level", "silent");
  await fetch(`${server.url}/api/sessions`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: '{"message":"Work on it."}',
  });
  await until(
    () => model.requests.length,
    (count) => count > 0,
  );
  server.child.kill("SIGTERM");
  // Signals that come together are one: the second is sent until it is taken for another.
  const again = setInterval(() => server.child.kill("SIGTERM"), 100);
  expect(await exitOf(server.child)).toBe(130);
  clearInterval(again);
  expect(server.stderr.text).toBe("Shutting down. Running turns have 10m to finish; press Ctrl-C again to exit now.\n");
});

test("a port that is taken ends with 3 and names another", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  using cli = testCli();
  const { code, stderr } = await cli.run(["serve", "--port", String(port)]);
  other.close();
  expect(code).toBe(3);
  expect(stderr).toBe(
    `capstan: Port ${port} on 127.0.0.1 is already in use. Choose another: capstan serve --port ${port + 1}. Or let Capstan pick one: --port 0\n`,
  );
});

test("beside the last port there is only the one before", async () => {
  const other = createServer().listen(65_535, "127.0.0.1");
  // Somebody else may have it already, which does as well.
  await Promise.race([once(other, "listening"), once(other, "error")]).catch(() => {});
  using cli = testCli();
  const { stderr } = await cli.run(["serve", "--port", "65535"]);
  other.close();
  expect(stderr).toContain("capstan serve --port 65534.");
});

test("a parent process is served over lines: a request, a stream, and the end of its input", async () => {
  using cli = testCli();
  const child = spawn(process.execPath, [resolve("src/cli/main.ts"), "serve", "--stdio"], {
    cwd: cli.cwd,
    env: cli.environment,
    stdio: "pipe",
  });
  children.push(child);
  const stdout = collect(child.stdout);
  interface Message {
    readonly id?: number;
    readonly method?: string;
    readonly result?: { readonly status: number; readonly stream?: number; readonly body: { readonly id: string } };
    readonly params?: { readonly event?: string };
  }
  const messages = (): Message[] =>
    stdout.text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Message);
  const message = (wanted: (one: Message) => boolean): Promise<Message | undefined> =>
    until(
      () => messages().find(wanted),
      (found) => found !== undefined,
    );
  const request = (id: number, params: unknown): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "request", params })}\n`);

  request(1, { method: "POST", path: "/api/sessions", body: { message: "hello" } });
  const made = await message(({ id }) => id === 1);
  expect(made?.result?.status).toBe(201);
  request(2, { path: `/api/sessions/${made?.result?.body.id}/stream` });
  expect((await message(({ id }) => id === 2))?.result).toMatchObject({ status: 200, stream: 1 });
  await message(({ params }) => params?.event === "session.status_idle");
  child.stdin.end();
  expect(await exitOf(child)).toBe(0);
  // The stream was still open, and ended with the input.
  expect(messages().at(-1)).toMatchObject({ method: "end", params: { stream: 1 } });
});

const WRONG: readonly (readonly [flags: readonly string[], said: RegExp])[] = [
  [["--host", "0.0.0.0"], /0\.0\.0\.0 can be reached from other machines.*--tls-cert.*--behind-proxy/],
  [["--host", "::"], /can be reached from other machines/],
  [["--host", "0.0.0.0", "--behind-proxy"], /Add --public-url/],
  [["--behind-proxy", "--public-url", "agents.example.org"], /must be an address without a path, such as https/],
  [["--behind-proxy", "--public-url", "http://agents.example.org"], /is not encrypted.*Use the proxy's https address/],
  [
    ["--stdio", "--port", "0", "--json"],
    /--stdio has no address, so it cannot be combined with --port, --json\. Omit them\.\n/,
  ],
  [
    ["--stdio", "--host", "127.0.0.1", "--open", "--behind-proxy", "--public-url", "https://a.example.org"],
    /cannot be combined with --host, --open, --behind-proxy, --public-url\. /,
  ],
  [["--stdio", "--tls-cert", "cert.pem", "--tls-key", "key.pem"], /cannot be combined with --tls-cert, --tls-key\. /],
  [["--public-url", "https://agents.example.org/below"], /without a path/],
  [["--tls-cert", "cert.pem"], /Use --tls-cert and --tls-key together/],
  [["--tls-cert", "no.pem", "--tls-key", "no.pem"], /Cannot use .* for TLS: ENOENT/],
  [["--port", "70000"], /whole number from 0 to 65535/],
  [["--grace", "soon"], /"soon" is not a duration/],
];

test("what would be unsafe or makes no sense ends with 2, and says why", async () => {
  using cli = testCli();
  await Promise.all(
    WRONG.map(async ([flags, said]) => {
      const { code, stderr, stdout } = await cli.run(["serve", ...flags]);
      expect(stderr, flags.join(" ")).toMatch(said);
      expect([code, stdout], flags.join(" ")).toEqual([2, ""]);
    }),
  );
});

test("beyond this machine it serves over TLS", async () => {
  using cli = testCli();
  for (const [name, text] of Object.entries(TEST_CERTIFICATE)) writeFileSync(join(cli.cwd, name), text);
  const server = await startServer(cli, "--host", "0.0.0.0", "--tls-cert", "cert", "--tls-key", "key");
  expect(server.url).toMatch(/^https:\/\/localhost:\d+$/);
  const asked = await cli.run(["serve", "--tls-cert", "key", "--tls-key", "cert"]);
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringMatching(/Cannot use .* for TLS/)]);
  expect(await stopServer(server)).toBe(0);
});

test("behind a proxy it prints and answers to its public address", async () => {
  using cli = testCli();
  const server = await startServer(cli, "--behind-proxy", "--public-url", "https://agents.example.org");
  expect(server.url).toBe("https://agents.example.org");
  expect(server.loginUrl).toMatch(/^https:\/\/agents\.example\.org\/login\?token=/);
  expect(await stopServer(server)).toBe(0);
});

test("npm start serves, and passes on the wish to stop", async () => {
  using cli = testCli();
  const child = spawn(process.execPath, [resolve("scripts/dev.mjs"), "start", "--port", "0", "--json"], {
    cwd: cli.cwd,
    env: { ...cli.environment },
    stdio: "pipe",
  });
  const server = await waitForAnnouncement(child);
  expect(server.rehearsal).toBe(true);
  expect((await fetch(`${server.url}/ready`)).status).toBe(200);
  expect(await stopServer(server)).toBe(0);
  expect(server.stderr.text).toContain("Stopped.");
});
