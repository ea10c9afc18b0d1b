import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { providerServer } from "../gateway/provider-server.ts";
import { testCli } from "../support/cli.ts";
import { apiError, say } from "../support/scripted-model.ts";
import { CTRL_C, ENTER, terminal } from "./ask-terminal.ts";
import { recordTrust } from "../support/trust.ts";

const KEY = "sk-ant-api03-a-key-that-nobody-may-see-1234";
const TOKEN = "sk-ant-oat01-a-token-that-nobody-may-see-5678";
/** No keyring of the person who runs the tests is touched: nobody answers there. */
const NO_KEYRING = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent" };

interface Line {
  readonly provider: string;
  readonly isDefault: boolean;
  readonly isComplete: boolean;
  readonly ends?: string;
  readonly found: readonly { readonly what: string; readonly where: string }[];
  readonly missing: readonly { readonly what: string; readonly how: string }[];
}

test("login stores a token where only the user can read it, sessions use it, and logout forgets it", async () => {
  await using server = await providerServer(({ headers }) =>
    headers["authorization"] === `Bearer ${TOKEN}` ? say("ok") : apiError(401, "authentication_error", "bad token"),
  );
  using cli = testCli();
  const environment = { ...NO_KEYRING, ANTHROPIC_BASE_URL: server.url };
  const run = (args: readonly string[], more: { input?: string; environment?: Record<string, string> } = {}) =>
    cli.run(args, { ...more, environment: { ...environment, ...more.environment } });
  const file = join(cli.home, ".capstan/credentials.json");

  const stored = await run(["auth", "login", "--provider", "oauth_token"], { input: `${TOKEN}\n` });
  expect(stored).toMatchObject({ code: 0, stdout: expect.stringContaining(`Saved for oauth_token in ${file}`) });
  expect(stored.stderr).toMatch(/^capstan: The system keyring is not available \(.+\)\. Using a file instead\.\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toContain(TOKEN);

  const status = await run(["auth", "status", "--json"]);
  const lines = status.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  expect(lines.map(({ provider, isDefault }) => [provider, isDefault])).toEqual([
    ["api_key", false],
    ["auth_token", false],
    ["oauth_token", true],
    ["bedrock", false],
    ["vertex", false],
    ["foundry", false],
  ]);
  expect(lines[2]).toMatchObject({
    isComplete: true,
    ends: "5678",
    found: [{ what: "CLAUDE_CODE_OAUTH_TOKEN", where: file }],
    missing: [],
  });
  expect(lines[3]?.missing.map(({ what }) => what)).toEqual(["AWS_REGION", "AWS credentials"]);

  const tested = await run(["auth", "test"]);
  expect(tested).toMatchObject({ code: 0, stderr: "" });
  expect(tested.stdout).toMatch(/^✓ oauth_token: claude-opus-4-8 answered in \d+ ms \(\d+ tokens in, \d+ out\)\n$/);
  expect((await run(["run", "hi"])).stdout).toMatch(/^ok\n/);

  // A variable comes first, and says so at once when it is the wrong one.
  const refused = await run(["auth", "test", "--json"], { environment: { ANTHROPIC_AUTH_TOKEN: "not-valid-at-all" } });
  expect(refused.code).toBe(3);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    ok: false,
    provider: "auth_token",
    status: 401,
    code: "credential_rejected",
    message: expect.stringMatching(
      /bad token.* The credential of auth_token came from the variable ANTHROPIC_AUTH_TOKEN/,
    ),
  });

  expect(await run(["auth", "logout"])).toEqual({
    code: 0,
    stdout: "Credential for oauth_token removed.\n",
    stderr: "",
  });
  expect(await run(["auth", "test"])).toMatchObject({ code: 2, stderr: expect.stringContaining("capstan auth login") });
  for (const { stdout, stderr } of [stored, status, tested, refused]) expect(stdout + stderr).not.toContain(TOKEN);
});

test("status tells a person what is used, where it came from and what is missing", async () => {
  using cli = testCli();
  const { code, stdout } = await cli.run(["auth"], {
    environment: { ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_USE_BEDROCK: "1", AWS_REGION: "us-east-1" },
  });
  expect(code).toBe(0);
  expect(stdout).toContain("  api_key     Anthropic API, ready\n    ANTHROPIC_API_KEY\n    ends in 1234\n");
  expect(stdout).toMatch(
    /^✗ bedrock {5}Amazon Bedrock, active, but incomplete\n {4}AWS_REGION\n {4}missing AWS credentials: set AWS_BEARER_TOKEN_BEDROCK/m,
  );
  expect(stdout).toContain(
    "  foundry     Microsoft Foundry, not set up\n    missing ANTHROPIC_FOUNDRY_RESOURCE, ANTHROPIC_FOUNDRY_API_KEY\n",
  );
  expect(stdout).not.toContain(KEY);
});

test("status refuses what a session would be refused for", async () => {
  using cli = testCli();
  mkdirSync(join(cli.cwd, ".capstan"));
  writeFileSync(join(cli.cwd, ".env"), "ANTHROPIC_BASE_URL=http://127.0.0.1:9\n");
  await recordTrust(cli);
  const environment = { ANTHROPIC_API_KEY: KEY, AWS_REGION: "no/region", AWS_BEARER_TOKEN_BEDROCK: KEY };
  const { stdout } = await cli.run(["auth"], { environment });
  const refusal = "sets ANTHROPIC_BASE_URL, but not the credential for api_key";
  expect(stdout).toMatch(/^✗ api_key {5}Anthropic API, active, but sessions will fail\n {4}ANTHROPIC_API_KEY\n/);
  expect(stdout).toContain(refusal);
  expect(stdout).toMatch(/^ {2}bedrock {5}Amazon Bedrock, not usable\n[^]*AWS_REGION must be the name of a region/m);
  expect(await cli.run(["run", "hi"], { environment })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(refusal),
  });
});

test("status tells that a project's switch does not count beside a key of the user's", async () => {
  using cli = testCli();
  mkdirSync(join(cli.cwd, ".capstan"));
  writeFileSync(join(cli.cwd, ".env"), "CLAUDE_CODE_USE_VERTEX=1\n");
  await recordTrust(cli);
  const { stdout } = await cli.run(["auth"], { environment: { ANTHROPIC_API_KEY: KEY } });
  expect(stdout).toContain("✓ api_key     Anthropic API, active\n");
  expect(stdout).toMatch(
    /^ {2}vertex .*\n {4}CLAUDE_CODE_USE_VERTEX in .*\.env has no effect, .* set it in the shell to use vertex$/m,
  );
});

test.for([
  { what: "that others can read", text: `{ "auth_token": { "in": "file", "secret": "x" } }`, mode: 0o644, kept: true },
  { what: "that is damaged", text: "{", mode: 0o600, kept: false },
])("a file of logins $what stops only what needs it, and login replaces it", async ({ text, mode, kept }) => {
  using cli = testCli();
  const file = join(cli.home, ".capstan/credentials.json");
  mkdirSync(join(cli.home, ".capstan"));
  writeFileSync(file, text);
  chmodSync(file, mode);
  expect(await cli.run(["run", "--rehearsal", "hi"])).toMatchObject({ code: 0 });
  expect(await cli.run(["run", "hi"])).toMatchObject({ code: 2, stderr: expect.stringContaining(file) });
  // A key that is set comes first, so that nobody needs the file.
  const set = await cli.run(["auth", "test"], {
    environment: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
  });
  expect(set.stderr).toContain("could not be reached");

  const { code, stderr } = await cli.run(["auth", "login"], { input: KEY, environment: NO_KEYRING });
  expect(code).toBe(0);
  expect(stderr).toContain(`${file} ${kept ? "could be read by others" : "was damaged"} and is replaced.`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(Object.keys(JSON.parse(readFileSync(file, "utf8")) as object)).toEqual([
    ...(kept ? ["auth_token"] : []),
    "api_key",
  ]);
});

test("login does not touch the keyring when its file cannot be read", async () => {
  using cli = testCli();
  const bus = join(cli.home, "bus");
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.destroy();
  }).listen(bus);
  await once(server, "listening");
  const environment = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` };
  try {
    mkdirSync(join(cli.home, ".capstan/credentials.json"), { recursive: true });
    const refused = await cli.run(["auth", "login"], { input: KEY, environment });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("it is a directory") });
    expect(calls).toBe(0);
  } finally {
    server.close();
  }
});

test.for([
  { args: [], input: `${TOKEN}\n`, says: "looks like a credential for oauth_token" },
  { args: ["-p", "oauth_token"], input: `${KEY}\n`, says: "looks like a credential for api_key" },
  { args: ["-p", "vertex"], input: "x", says: "gcloud auth application-default login" },
  { args: [], input: "", says: "The input is empty" },
  { args: [], input: "two words", says: "characters that no credential has" },
  { args: ["-p", "azure"], input: "x", says: "Allowed choices are api_key" },
])("login refuses $args with $says", async ({ args, input, says }) => {
  using cli = testCli();
  const { code, stdout, stderr } = await cli.run(["auth", "login", ...args], { input, environment: NO_KEYRING });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(says);
  expect(stderr).not.toContain("nobody-may-see");
});

test("login on a terminal shows nothing of what is typed, and stores nothing when it is left", async () => {
  using cli = testCli();
  const file = join(cli.home, ".capstan/credentials.json");
  {
    await using left = terminal(cli, ["auth", "login"], NO_KEYRING);
    await left.sees("Key or token for api_key (hidden)");
    left.type(`${KEY}${CTRL_C}`);
    expect(await left.end()).toBe(2);
    expect(left.text).toContain("Nothing was saved.");
    expect(existsSync(file)).toBe(false);
  }
  await using typed = terminal(cli, ["auth", "login"], NO_KEYRING);
  await typed.sees("Key or token for api_key (hidden)");
  typed.type(`${KEY}${ENTER}`);
  expect(await typed.end()).toBe(0);
  expect(readFileSync(file, "utf8")).toContain(KEY);
  expect(typed.text).not.toContain("nobody-may-see");
});
