import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type HostOptions, openHost } from "../../src/app/open-host.ts";
import { type ProviderServer, providerServer } from "../gateway/provider-server.ts";
import { type Cli, testCli } from "../support/cli.ts";
import { agent, ofType, temporaryDirectory } from "../support/host.ts";
import { apiError, call, say, type Script } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

const OLD = "sk-ant-oat01-the-token-that-expires-0001";
const NEW = "sk-ant-oat01-the-token-that-is-good-0002";
/** No keyring of the person who runs the tests is touched: nobody answers there. */
const NO_KEYRING = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent" };
const EXPIRED = "OAuth token has expired";

/** Lets the agent run a command with the old token, which is no good from then on. */
const expiring: Script = ({ headers, toolResults }) => {
  if (toolResults.length === 0) return call("Bash", { command: "echo ran >>ran.txt; env; cat /proc/$PPID/environ" });
  const isNew = headers["authorization"] === `Bearer ${NEW}` || headers["x-api-key"] === NEW;
  return isNew ? say("All done.") : apiError(401, "authentication_error", EXPIRED);
};

function runs(cwd: string): number {
  const file = join(cwd, "ran.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
}

async function withLogin(run: (cli: Cli & { login(token: string): Promise<void> }) => Promise<void>): Promise<void> {
  await using server = await providerServer(expiring);
  using cli = testCli();
  Object.assign(cli.environment, NO_KEYRING, { ANTHROPIC_BASE_URL: server.url });
  const login = async (token: string): Promise<void> => {
    const done = await cli.run(["auth", "login", "--provider", "oauth_token"], { input: token });
    expect(done.code).toBe(0);
  };
  await login(OLD);
  await run({ ...cli, login });
  expect(runs(cli.cwd)).toBe(1);
  expect(server.toolResults.join("\n")).toMatch(/CAPSTAN_SESSION/);
  expect(server.toolResults.join("\n")).not.toMatch(/sk-ant-oat01/);
}

/** Starts a turn and resolves when it is paused. */
async function pausedRun(cli: Cli) {
  const child = cli.start(["run", "--mode", "yolo", "do it"]);
  child.stdin.end();
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (printed += text));
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  await until(
    () => printed,
    (text) => text.includes("The session is paused"),
  );
  return { child, closed, text: () => printed };
}

test("a turn whose token expires is paused, and goes on by itself after a login in another terminal", async () => {
  await withLogin(async (cli) => {
    const { closed, text } = await pausedRun(cli);
    expect(text()).toContain(
      `! The model API no longer accepts the credential (401): ${EXPIRED}. The session is paused, and continues automatically when there is another one, for 30 minutes at most. The credential of oauth_token was stored by login: run capstan auth login --provider oauth_token with a valid one.`,
    );
    await cli.login(NEW);
    expect(await closed).toBe(0);
    expect(text()).toContain("All done.");
  });
});

test("a token in a variable cannot change: the turn ends, and goes on without a word in a host that has another", async () => {
  await using server = await providerServer(expiring);
  using cli = testCli();
  const environment = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_AUTH_TOKEN: OLD };
  const failed = await cli.run(["run", "--mode", "yolo", "do it"], { environment });
  expect(failed).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(
      `The model API no longer accepts the credential (401): ${EXPIRED}. The credential of auth_token came from the variable ANTHROPIC_AUTH_TOKEN, which cannot change`,
    ),
  });
  const again = await cli.run(["run", "-c"], { environment: { ...environment, ANTHROPIC_AUTH_TOKEN: NEW } });
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("All done.") });
  expect(runs(cli.cwd)).toBe(1);
});

test("a host that is killed during the pause leaves a turn that goes on like any other that was cut off", async () => {
  await withLogin(async (cli) => {
    const { child, closed } = await pausedRun(cli);
    child.kill("SIGKILL");
    await closed;
    await cli.login(NEW);
    const recovered = await cli.run(["sessions", "recover", "--on-crash", "continue", "--json"]);
    expect(recovered).toMatchObject({ code: 0, stdout: expect.stringContaining("end_turn") });
    expect((await cli.run(["sessions", "show", "--json", idIn(recovered.stdout)])).stdout).toContain("All done.");
  });
});

test("a turn that was paused when its host was killed is ended by the next run, as the settings say", async () => {
  await withLogin(async (cli) => {
    const { child, closed } = await pausedRun(cli);
    child.kill("SIGKILL");
    await closed;
    const next = await cli.run(["run", "--rehearsal", "list files"]);
    expect(next).toMatchObject({ code: 0, stderr: expect.stringContaining("was interrupted when its host died") });
    expect((await cli.run(["sessions", "list", "--status", "rescheduling", "--json"])).stdout).toBe("");
  });
});

function idIn(json: string): string {
  return /sesn_\w+/.exec(json)?.[0] ?? "";
}

async function withFile(
  server: ProviderServer,
  options: HostOptions = {},
): Promise<AsyncDisposable & { mend(): void } & Awaited<ReturnType<typeof startSession>>> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const file = join(directory.path, "key");
  writeFileSync(file, OLD);
  const environment = { PATH: process.env["PATH"], ANTHROPIC_API_KEY_FILE: file, ANTHROPIC_BASE_URL: server.url };
  const host = stack.use(
    await openHost({ home: join(directory.path, "home"), engine: TEST_ENGINE, environment, ...options }),
  );
  const cwd = join(directory.path, "work");
  mkdirSync(cwd);
  const made = await startSession(host, cwd);
  const parts = stack.move();
  return { ...made, mend: () => writeFileSync(file, NEW), [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function startSession(host: Awaited<ReturnType<typeof openHost>>, cwd: string) {
  const session = await host.startSession({ agent: agent({ tools: ["Bash"], permissions: { mode: "yolo" } }), cwd });
  return {
    cwd,
    session,
    paused: () =>
      until(
        () => session.state.status,
        (status) => status === "rescheduling",
      ),
    log: () => host.read(session.id),
  };
}

test("an interrupt ends the pause and the turn, and the next message goes on with the new key", async () => {
  await using server = await providerServer(expiring);
  await using scene = await withFile(server);
  const { session } = scene;
  const turn = session.send("do it").result();
  await scene.paused();
  await session.interrupt();
  expect((await turn).stopReason).toEqual({ type: "end_turn" });
  expect(session.state.status).toBe("idle");
  const before = ofType(await scene.log(), "session.status_running").length;
  scene.mend();
  expect((await session.send("go on").result()).text).toBe("All done.");
  expect(ofType(await scene.log(), "session.status_running")).toHaveLength(before + 1);
  expect(runs(scene.cwd)).toBe(1);
});

test("the log says when the pause begins and ends, and the turn is one turn", async () => {
  await using server = await providerServer(expiring);
  // Pings go out before the key is mended, as they do in a longer pause.
  await using scene = await withFile(server, { upstreamIdleMs: 1000 });
  const turn = scene.session.send("do it").result();
  await scene.paused();
  scene.mend();
  expect((await turn).text).toBe("All done.");
  const log = await scene.log();
  expect(log.flatMap(({ type }) => (/^session\.(status|error)/.test(type) ? [type] : []))).toEqual([
    "session.status_running",
    "session.error",
    "session.status_rescheduled",
    "session.status_running",
    "session.status_idle",
  ]);
  const [error] = ofType(log, "session.error");
  expect(error?.error).toMatchObject({
    type: "model_request_failed_error",
    code: "credential_expired",
    retry_status: { type: "retrying" },
    http_status: 401,
    next_step: expect.stringContaining("put a valid one there"),
  });
  expect(Date.parse(error?.error.waits_until ?? "")).toBeGreaterThan(Date.parse(error?.processed_at ?? ""));
  expect(scene.session.state.turns).toBe(1);
  // Each request that was sent is settled, also the one that was refused.
  expect(ofType(log, "span.model_request_end").map(({ http_status: status }) => status)).toEqual([200, 401, 200]);
  expect(JSON.stringify(log)).not.toContain(NEW);
});

test.each([
  ["after a while", { credentialWaitMs: 900, upstreamIdleMs: 1000 }],
  ["at once where nobody is to be waited for", { credentialWaitMs: 0 }],
])("a pause that nobody ends is over %s, with the fix named, and the work is kept", async (_when, options) => {
  await using server = await providerServer(expiring);
  await using scene = await withFile(server, options);
  const { session } = scene;
  await expect(session.send("do it").result()).rejects.toMatchObject({
    code: "credential_expired",
    retryable: true,
    message: expect.stringMatching(/has expired\. The credential of api_key .*: put a valid one there\. Then send/),
  });
  expect(session.state).toMatchObject({ status: "idle", stopReason: { type: "retries_exhausted" } });
  scene.mend();
  expect((await session.send("go on").result()).text).toBe("All done.");
  expect(runs(scene.cwd)).toBe(1);
});
