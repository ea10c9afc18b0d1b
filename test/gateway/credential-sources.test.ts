import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { AUTH_PROVIDERS, type AuthProvider } from "../../src/core/auth/auth-schema.ts";
import { chosenProvider } from "../../src/core/auth/auth-variables.ts";
import { runCredentialCommand, tellAll } from "../../src/gateway/credentials/credential-command.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import { bedrockModel, vertexModel } from "../../src/gateway/model-names.ts";
import type { CredentialSettings, StoredSecrets } from "../../src/gateway/credentials/secret-source.ts";
import type { Upstream } from "../../src/gateway/upstreams/upstream.ts";
import { upstreamsFor, usableUpstreams } from "../../src/gateway/upstreams/upstreams.ts";
import { temporaryDirectory } from "../support/host.ts";
import { apiError, say, type ScriptedModel, scriptedModel } from "../support/scripted-model.ts";
import { ask, bytesOf, ledger } from "./support.ts";

const stored = (secrets: Partial<Record<AuthProvider, string>>): StoredSecrets => ({
  providers: AUTH_PROVIDERS.filter((provider) => provider in secrets),
  source: (provider) => {
    const secret = secrets[provider];
    return secret === undefined
      ? undefined
      : { place: "the keyring", remedy: "Log in.", isFixed: false, read: async () => secret };
  },
});

function switchOfProject(more: Record<string, string> = {}) {
  return { environment: { CLAUDE_CODE_USE_VERTEX: "1", ...more }, dotEnv: ["CLAUDE_CODE_USE_VERTEX"] };
}

describe("the provider where no agent names one", () => {
  test.each<[why: string, settings: Partial<Parameters<typeof chosenProvider>[0]>, expected: AuthProvider | undefined]>(
    [
      ["nothing", {}, undefined],
      ["a key before tokens", { environment: { ANTHROPIC_API_KEY: "a", ANTHROPIC_AUTH_TOKEN: "b" } }, "api_key"],
      ["a file with a token", { environment: { CLAUDE_CODE_OAUTH_TOKEN_FILE: "/f" } }, "oauth_token"],
      ["a switch before a key", { environment: { CLAUDE_CODE_USE_BEDROCK: "1", ANTHROPIC_API_KEY: "a" } }, "bedrock"],
      ["a switch in words", { environment: { CLAUDE_CODE_USE_VERTEX: "true" } }, "vertex"],
      ["a switch that is off", { environment: { CLAUDE_CODE_USE_FOUNDRY: "0" } }, undefined],
      ["a cloud's key alone chooses nothing", { environment: { ANTHROPIC_FOUNDRY_API_KEY: "a" } }, undefined],
      [
        "settings before everything",
        { auth: { provider: "foundry" }, environment: { ANTHROPIC_API_KEY: "a" } },
        "foundry",
      ],
      ["login after a variable", { stored: ["api_key"], environment: { ANTHROPIC_AUTH_TOKEN: "b" } }, "auth_token"],
      ["login", { stored: ["bedrock", "oauth_token"] }, "oauth_token"],
      ["a project's switch where the user has nothing", { ...switchOfProject() }, "vertex"],
      ["a key of the shell before a project's switch", switchOfProject({ ANTHROPIC_API_KEY: "a" }), "api_key"],
      ["login before a project's switch", { ...switchOfProject(), stored: ["oauth_token"] }, "oauth_token"],
      ["a switch of the shell before a project's", switchOfProject({ CLAUDE_CODE_USE_FOUNDRY: "1" }), "foundry"],
      [
        "a project's switch before the project's key",
        {
          ...switchOfProject({ ANTHROPIC_API_KEY: "a" }),
          dotEnv: ["CLAUDE_CODE_USE_VERTEX", "ANTHROPIC_API_KEY"],
        },
        "vertex",
      ],
    ],
  )("%s", (_why, settings, expected) => {
    expect(chosenProvider({ environment: {}, auth: {}, stored: [], ...settings })).toBe(expected);
  });
});

async function header(settings: CredentialSettings, model: ScriptedModel, provider?: AuthProvider): Promise<string> {
  const environment = { ANTHROPIC_BASE_URL: model.url, ...settings.environment };
  await bytesOf((await send(await upstreamsFor({ ...settings, environment })(provider))).body);
  const { headers } = model.requests.at(-1) ?? {};
  return headers?.["x-api-key"] ?? headers?.["authorization"] ?? "";
}

function send(upstream: Upstream) {
  return upstream.send({
    method: "POST",
    path: "/v1/messages",
    headers: [],
    body: Buffer.from(JSON.stringify({ model: "claude-opus-4-8", messages: [] })),
    signal: new AbortController().signal,
  });
}

describe("the secret of a provider", () => {
  test("comes from its variable, then its file, then the command, then login", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "key");
    writeFileSync(file, "of-the-file\n");
    await using model = await scriptedModel(() => say("hi"));
    const auth = { provider: "api_key", credential_command: "echo of-the-command" } as const;
    const all = { auth, stored: stored({ api_key: "of-the-login" }) };
    const variables = { ANTHROPIC_API_KEY: "of-the-variable", ANTHROPIC_API_KEY_FILE: file };
    const { ANTHROPIC_API_KEY: _, ...rest } = variables;
    expect(await header({ ...all, environment: variables }, model)).toBe("of-the-variable");
    expect(await header({ ...all, environment: rest }, model)).toBe("of-the-file");
    expect(await header({ ...all, environment: {} }, model)).toBe("of-the-command");
    expect(await header({ ...all, auth: {}, environment: {} }, model)).toBe("of-the-login");
    // The command is for the provider beside it.
    expect(
      await header({ ...all, stored: stored({ auth_token: "other" }), environment: {} }, model, "auth_token"),
    ).toBe("Bearer other");
  });

  test("is told to whoever keeps it out of the log", async () => {
    const learned: unknown[] = [];
    const settings = {
      environment: {},
      auth: { provider: "foundry", credential_command: "echo printed-secret", base_url: "http://127.0.0.1:9" },
      onSecret: (secret: unknown) => learned.push(secret),
    } as const;
    await upstreamsFor(settings)();
    expect(learned).toEqual([{ name: "ANTHROPIC_FOUNDRY_API_KEY", value: "printed-secret" }]);
  });

  test.each<[provider: AuthProvider, environment: Record<string, string>, missing: string[]]>([
    ["auth_token", {}, ["ANTHROPIC_AUTH_TOKEN"]],
    ["bedrock", { AWS_ACCESS_KEY_ID: "half of it" }, ["AWS_REGION", "AWS credentials"]],
    // AWS's own client would not see it: it is not in the environment of this process.
    ["bedrock", { AWS_REGION: "us-east-1", AWS_PROFILE: "of-dot-env" }, ["AWS credentials"]],
    ["vertex", { CLOUD_ML_REGION: "us-east5" }, ["ANTHROPIC_VERTEX_PROJECT_ID", "Google credentials"]],
    ["foundry", { ANTHROPIC_FOUNDRY_RESOURCE: "mine" }, ["ANTHROPIC_FOUNDRY_API_KEY"]],
  ])("%s with %j lacks something, which is named with the way to get it", async (provider, environment, missing) => {
    const error = await upstreamsFor({ environment })(provider).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "credential_missing", data: { provider, missing } });
    for (const what of missing) expect((error as Error).message).toMatch(new RegExp(`Missing ${what}: \\w+ .+\\.`));
  });

  test("need not be the host's own where an agent could name another provider", async () => {
    const environment = { AWS_REGION: "us-east-1", AWS_BEARER_TOKEN_BEDROCK: "a" };
    const upstreamFor = await usableUpstreams({ environment });
    await expect(upstreamFor("bedrock")).resolves.toMatchObject({ isPlain: true });
    await expect(upstreamFor()).rejects.toMatchObject({ code: "credential_missing" });
    await expect(usableUpstreams({ environment: {} })).rejects.toMatchObject({ code: "credential_missing" });
  });
});

describe("an address in a project's .env", () => {
  const path = "/project/.env";
  const refused = (names: string[], environment: Record<string, string>, rest: Partial<CredentialSettings> = {}) =>
    upstreamsFor({ environment, dotEnv: { path, names }, ...rest });

  test.each<[why: string, provider: AuthProvider, names: string[], environment: Record<string, string>]>([
    ["a key of the shell", "api_key", ["ANTHROPIC_BASE_URL"], { ANTHROPIC_API_KEY: "a" }],
    [
      "another token of the shell, though the file has a key of its own",
      "oauth_token",
      ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"],
      { ANTHROPIC_API_KEY: "a", CLAUDE_CODE_OAUTH_TOKEN: "b" },
    ],
    [
      "a file, which may be the user's",
      "api_key",
      ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY_FILE"],
      { ANTHROPIC_API_KEY_FILE: "/f" },
    ],
    ["what login stored", "auth_token", ["ANTHROPIC_BASE_URL"], {}],
    [
      "AWS keys",
      "bedrock",
      ["ANTHROPIC_BEDROCK_BASE_URL"],
      { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" },
    ],
    ["a resource of others", "foundry", ["ANTHROPIC_FOUNDRY_RESOURCE"], { ANTHROPIC_FOUNDRY_API_KEY: "a" }],
  ])("does not get %s", async (_why, provider, names, environment) => {
    const addresses = Object.fromEntries(
      names.filter((name) => /URL|RESOURCE/.test(name)).map((name) => [name, "http://x"]),
    );
    const upstreamFor = refused(names, { ...addresses, ...environment }, { stored: stored({ auth_token: "c" }) });
    await expect(upstreamFor(provider)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(`${path} sets ${names[0]}, but not the credential for ${provider}`),
    });
  });

  test("gets the key that stands beside it, and that of the shell where the address is the shell's", async () => {
    const environment = { ANTHROPIC_API_KEY: "a", ANTHROPIC_BASE_URL: "http://x" };
    await refused(["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"], environment)();
    await refused(["ANTHROPIC_API_KEY"], environment)();
    await refused([], environment)();
  });
});

describe("a place of credentials in a project's .env", () => {
  const path = "/project/.env";
  const google = { CLOUD_ML_REGION: "us-east5", ANTHROPIC_VERTEX_PROJECT_ID: "p" };

  test.each<[name: string, provider: AuthProvider]>([
    ["GOOGLE_APPLICATION_CREDENTIALS", "vertex"],
    ["CLOUDSDK_CONFIG", "vertex"],
    ["HOME", "vertex"],
    ["AWS_CONFIG_FILE", "bedrock"],
    ["AWS_SHARED_CREDENTIALS_FILE", "bedrock"],
    ["AWS_WEB_IDENTITY_TOKEN_FILE", "bedrock"],
    ["AWS_CONTAINER_CREDENTIALS_FULL_URI", "bedrock"],
  ])("is refused: %s", async (name, provider) => {
    using directory = temporaryDirectory();
    // One file that serves all of them: as itself, and as what lies in a directory.
    const usual = name === "HOME" ? join(directory.path, ".config/gcloud") : directory.path;
    mkdirSync(usual, { recursive: true });
    const file = join(usual, "application_default_credentials.json");
    writeFileSync(file, JSON.stringify({ type: "external_account" }));
    const environment = {
      ...google,
      AWS_REGION: "us-east-1",
      [name]: name === "HOME" || name === "CLOUDSDK_CONFIG" ? directory.path : file,
    };
    const settings = { environment, dotEnv: { path, names: [name] } };
    await expect(upstreamsFor(settings)(provider)).rejects.toMatchObject({
      code: "credential_missing",
      message: expect.stringMatching(`${path} sets ${name}, .*set it in the shell`),
    });
  });

  test("sends no file of the user's anywhere", async () => {
    using directory = temporaryDirectory();
    const [secret, file] = [join(directory.path, "id_rsa"), join(directory.path, "adc.json")];
    await using thief = await scriptedModel(() => say("thanks"));
    writeFileSync(secret, "private");
    const credentials = {
      type: "external_account",
      audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: `${thief.url}/v1/messages`,
      credential_source: { file: secret },
    };
    writeFileSync(file, JSON.stringify(credentials));
    const environment = { ...google, CLAUDE_CODE_USE_VERTEX: "1", GOOGLE_APPLICATION_CREDENTIALS: file };
    const upstreamFor = upstreamsFor({ environment, dotEnv: { path, names: Object.keys(environment) } });
    const asking = async () => send(await upstreamFor());
    await expect(asking()).rejects.toMatchObject({ code: "credential_missing" });
    expect(thief.requests).toEqual([]);
  });

  test("is nobody's business where keys are used", async () => {
    const environment = { AWS_REGION: "us-east-1", AWS_BEARER_TOKEN_BEDROCK: "a", AWS_CONFIG_FILE: "/f" };
    const dotEnv = { path, names: ["AWS_CONFIG_FILE"] };
    await expect(upstreamsFor({ environment, dotEnv })("bedrock")).resolves.toMatchObject({ isPlain: true });
  });
});

/** A model API that knows one key. */
function accepting(key: string): Promise<ScriptedModel> {
  return scriptedModel(({ headers }) =>
    headers["x-api-key"] === key ? say("hi") : apiError(401, "authentication_error", "no"),
  );
}

describe("a secret that is refused", () => {
  test("is got by the command once more, and the request is repeated", async () => {
    using directory = temporaryDirectory();
    const runs = join(directory.path, "runs");
    await using model = await accepting("key-2");
    // Each run gives the next key.
    const credential_command = `echo x >>'${runs}'; echo "key-$(wc -l <'${runs}' | tr -d ' ')"`;
    const environment = { ANTHROPIC_BASE_URL: model.url };
    const upstream = await upstreamsFor({ environment, auth: { provider: "api_key", credential_command } })();
    expect((await send(upstream)).status).toBe(200);
    expect((await send(upstream)).status).toBe(200);
    expect(readFileSync(runs, "utf8")).toBe("x\nx\n");
    expect(model.requests.map(({ headers }) => headers["x-api-key"])).toEqual(["key-1", "key-2", "key-2"]);
  });

  test("is read once for all requests that meet the refusal together", async () => {
    using directory = temporaryDirectory();
    const runs = join(directory.path, "runs");
    await using model = await accepting("key-2");
    const credential_command = `echo x >>'${runs}'; echo "key-$(wc -l <'${runs}' | tr -d ' ')"`;
    const environment = { ANTHROPIC_BASE_URL: model.url };
    const upstream = await upstreamsFor({ environment, auth: { provider: "api_key", credential_command } })();
    const answers = await Promise.all([send(upstream), send(upstream), send(upstream)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(readFileSync(runs, "utf8")).toBe("x\nx\n");
  });

  test("and cannot be read any more is told without what the command said", async () => {
    using directory = temporaryDirectory();
    const flag = join(directory.path, "flag");
    await using model = await accepting("never");
    const credential_command = `test -e '${flag}' && { echo 'the vault is locked' >&2; exit 4; }; touch '${flag}'; echo key`;
    const environment = { ANTHROPIC_BASE_URL: model.url };
    const upstream = await upstreamsFor({ environment, auth: { provider: "api_key", credential_command } })();
    const answer = await send(upstream);
    expect(answer.status).toBe(401);
    expect(JSON.parse((await bytesOf(answer.body)).toString())).toMatchObject({
      error: {
        message:
          "auth.credential_command ended with exit code 4. Fix the command in your settings, or run it in a shell to see what it does.",
      },
    });
  });

  test("of a variable is not tried again, and the way out says why", async () => {
    await using model = await accepting("other");
    const upstream = await upstreamsFor({
      environment: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "of-the-shell" },
    })();
    expect((await send(upstream)).status).toBe(401);
    expect(model.requests).toHaveLength(1);
    expect(upstream.remedy).toBe(
      "The credential of api_key came from the variable ANTHROPIC_API_KEY, which cannot change while this program runs: set a valid one and restart Capstan, or unset it and run capstan auth login --provider api_key.",
    );
  });

  test("is told to the session with the way out, and to the agent without", async () => {
    await using model = await accepting("other");
    const upstreamFor = upstreamsFor({
      environment: { ANTHROPIC_BASE_URL: model.url },
      stored: stored({ api_key: "of-the-login" }),
    });
    await using gateway = await openGateway({ upstream: upstreamFor, clock: { now: () => 0 } });
    const session = ledger();
    const { url, token } = await gateway.admit(session);
    expect((await ask(url, { token })).error.message).toBe("no");
    expect(session.rejected).toEqual([
      { status: 401, message: "no.", remedy: "Log in. Then send a message to continue.", isExpired: false },
    ]);
  });
});

describe("sessions with different providers", () => {
  test("are held up on their own, and those with the same one together", async () => {
    await using model = await scriptedModel(({ index }) =>
      index === 0 ? apiError(429, "rate_limit_error", "slow down", { "retry-after": "30" }) : say("hi"),
    );
    const environment = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "a", ANTHROPIC_AUTH_TOKEN: "b" };
    await using gateway = await openGateway({ upstream: upstreamsFor({ environment }), clock: { now: () => 0 } });
    const session = async (provider?: AuthProvider) => {
      const { url, token } = await gateway.admit({ ...ledger(), provider });
      return async () => (await ask(url, { token })).status;
    };
    const [first, same, other] = [await session(), await session("api_key"), await session("auth_token")];
    expect([await first(), await same(), await other()]).toEqual([429, 429, 200]);
    expect(model.requests).toHaveLength(2);
  });

  test("are not admitted when something is missing", async () => {
    const upstream = upstreamsFor({ environment: { ANTHROPIC_API_KEY: "a" } });
    await using gateway = await openGateway({ upstream, clock: { now: () => 0 } });
    await expect(gateway.admit({ ...ledger(), provider: "vertex" })).rejects.toMatchObject({
      code: "credential_missing",
    });
  });
});

function run(command: string, more: Record<string, string> = {}, timeLimitMs?: number): Promise<string> {
  const environment = { PATH: process.env["PATH"], ...more };
  return runCredentialCommand(command, environment, timeLimitMs === undefined ? {} : { timeLimitMs });
}

describe("a credential command", () => {
  test("gives what it prints, without the white space around it", async () => {
    expect(await run("printf ' secret\\n\\n'; echo noise >&2")).toBe("secret");
  });

  test("runs at home, with the shell's variables and nothing on its input", async () => {
    using directory = temporaryDirectory();
    chmodSync(directory.path, 0o700);
    expect(await run('cat; echo "$PWD:$MINE"', { HOME: directory.path, MINE: "x" })).toBe(`${directory.path}:x`);
  });

  test("sees nothing that a project's .env gave", async () => {
    const learned: string[] = [];
    const settings: CredentialSettings = {
      environment: { PATH: process.env["PATH"], THEIRS: "x", ANTHROPIC_BASE_URL: "http://x" },
      auth: { provider: "api_key", credential_command: 'echo "key${THEIRS:-}"' },
      dotEnv: { path: "/project/.env", names: ["THEIRS"] },
      onSecret: ({ value }) => learned.push(value),
    };
    await upstreamsFor(settings)();
    expect(learned).toEqual(["key"]);
  });

  test.each([
    ["exit 3", /ended with exit code 3\. Fix/],
    ["echo first >&2; echo 'last words' >&2; exit 1", /ended with exit code 1\. Its output: last words\. Fix/],
    ["true", /printed nothing/],
    ["yes", /printed more than 65536 characters/],
    ["kill -9 $$", /was ended by SIGKILL/],
    ["no-such-program-at-all", /ended with exit code 127\. Its output: .*no-such-program-at-all/],
  ])("that fails (%s) is told", async (command, says) => {
    await expect(run(command).catch(tellAll)).rejects.toMatchObject({
      code: "credential_missing",
      message: expect.stringMatching(says),
    });
  });

  test("that fails says why to whoever starts a host, and nowhere else", async () => {
    const credential_command = "echo 'the vault is locked' >&2; exit 4";
    const settings = { environment: { PATH: process.env["PATH"] }, auth: { provider: "api_key", credential_command } };
    const starting = usableUpstreams(settings as CredentialSettings);
    await expect(starting).rejects.toThrow("ended with exit code 4. Its output: the vault is locked. Fix");
    const later = await upstreamsFor(settings as CredentialSettings)().catch((thrown: unknown) => thrown);
    expect(later).toMatchObject({ code: "credential_missing" });
    expect(inspect(later, { depth: Infinity, showHidden: true, getters: false })).not.toContain("vault is locked");
  });

  test("that does not end is ended, with all it started", async () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "pid");
    await expect(run(`sleep 60 & echo $! >'${file}'; wait`, {}, 300)).rejects.toMatchObject({
      message: expect.stringMatching(/^auth\.credential_command did not end within 0\.3 s\./),
    });
    const pid = Number(readFileSync(file, "utf8"));
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    // A process that nobody has waited for yet is still in the table.
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2] !== "Z";
  } catch {
    return false;
  }
}

describe("the names of models", () => {
  test.each([
    ["claude-opus-4-8", "us-east-1", {}, "us.anthropic.claude-opus-4-8"],
    ["claude-opus-4-6", "eu-west-1", {}, "eu.anthropic.claude-opus-4-6-v1"],
    ["claude-haiku-4-5", "ap-northeast-1", {}, "apac.anthropic.claude-haiku-4-5-20251001-v1:0"],
    ["claude-sonnet-4-20250514", "sa-east-1", {}, "global.anthropic.claude-sonnet-4-20250514-v1:0"],
    ["claude-opus-5-5", "ap-southeast-2", { ANTHROPIC_BEDROCK_REGION_PREFIX: "au" }, "au.anthropic.claude-opus-5-5"],
    ["claude-opus-5-5", "us-gov-west-1", { ANTHROPIC_BEDROCK_REGION_PREFIX: "us" }, "us-gov.anthropic.claude-opus-5-5"],
    ["eu.anthropic.claude-opus-4-8", "us-east-1", {}, "eu.anthropic.claude-opus-4-8"],
    [
      "arn:aws:bedrock:us-east-1:1:application-inference-profile/x",
      "us-east-1",
      {},
      "arn:aws:bedrock:us-east-1:1:application-inference-profile/x",
    ],
  ])("%s is for Bedrock in %s with %j: %s", (model, region, environment, expected) => {
    expect(bedrockModel(model, environment, region)).toBe(expected);
  });

  test.each([
    ["claude-opus-4-8", "claude-opus-4-8"],
    ["claude-haiku-4-5", "claude-haiku-4-5@20251001"],
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929"],
    ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5@20250929"],
  ])("%s is for Vertex %s", (model, expected) => {
    expect(vertexModel(model)).toBe(expected);
  });
});
