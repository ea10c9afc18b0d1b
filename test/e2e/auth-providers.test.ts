import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHost } from "../../src/app/open-host.ts";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import { type Arrival, GOOGLE_TOKEN, type ProviderServer, providerServer } from "../gateway/provider-server.ts";
import { signatureOf } from "../gateway/signature.ts";
import { type Cli, testCli } from "../support/cli.ts";
import { agent, ofType, temporaryDirectory } from "../support/host.ts";
import { apiError, call, say } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

/** All that a process of this user can see of variables: its own, its parent's, and those of every other process. */
const LOOK =
  "env; for file in /proc/self/environ /proc/$PPID/environ /proc/[0-9]*/environ; do tr '\\0' '\\n' <$file; done 2>/dev/null; echo LOOKED";

const SECRET = "s3cr3t-0f-th3-h0st-8c1d";
const SESSION = "s3ss10n-0f-th3-h0st-77ab";
const MODEL = "claude-opus-4-8";
/** The CLI asks for betas with every request; the direct engine needs none here. */
const asksForBetas = TEST_ENGINE === "claude";
const MESSAGES = asksForBetas ? "/v1/messages?beta=true" : "/v1/messages";

interface Case {
  readonly provider: string;
  readonly variables: (server: ProviderServer, cli: Cli) => Record<string, string>;
  /** Besides `SECRET`. */
  readonly secrets?: readonly string[];
  readonly checkArrival: (arrival: Arrival) => void;
}

const CASES: readonly Case[] = [
  {
    provider: "api_key",
    variables: ({ url }) => ({ ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: url }),
    checkArrival({ path, headers }) {
      expect(path).toBe(MESSAGES);
      expect(headers["x-api-key"]).toBe(SECRET);
      expect(headers["authorization"]).toBeUndefined();
    },
  },
  {
    provider: "auth_token",
    variables: ({ url }) => ({ ANTHROPIC_AUTH_TOKEN: SECRET, ANTHROPIC_BASE_URL: url }),
    checkArrival({ path, headers }) {
      expect(path).toBe(MESSAGES);
      expect(headers["authorization"]).toBe(`Bearer ${SECRET}`);
      expect(headers["x-api-key"]).toBeUndefined();
    },
  },
  {
    provider: "oauth_token",
    variables: ({ url }) => ({ CLAUDE_CODE_OAUTH_TOKEN: SECRET, ANTHROPIC_BASE_URL: url }),
    checkArrival({ headers }) {
      expect(headers["authorization"]).toBe(`Bearer ${SECRET}`);
      expect(headers["anthropic-beta"]?.split(",")).toContain("oauth-2025-04-20");
    },
  },
  {
    provider: "bedrock, signed",
    variables: ({ url }) => ({
      CLAUDE_CODE_USE_BEDROCK: "1",
      AWS_REGION: "eu-west-1",
      AWS_ACCESS_KEY_ID: "AKIATESTTESTTESTTEST",
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_SESSION_TOKEN: SESSION,
      ANTHROPIC_BEDROCK_BASE_URL: url,
    }),
    secrets: [SESSION],
    checkArrival(arrival) {
      expect(arrival.path).toBe(`/model/eu.anthropic.${MODEL}/invoke-with-response-stream`);
      expect(arrival.headers["x-amz-security-token"]).toBe(SESSION);
      const signature = signatureOf(arrival, SECRET);
      expect(signature?.credential).toMatch(/^AKIATESTTESTTESTTEST\/\d{8}\/eu-west-1\/bedrock\/aws4_request$/);
      expect(signature?.isValid).toBe(true);
      const body = JSON.parse(arrival.body) as Record<string, unknown>;
      expect(body["anthropic_version"]).toEqual(expect.any(String));
      expect(Array.isArray(body["anthropic_beta"])).toBe(asksForBetas);
      expect(body).not.toHaveProperty("model");
    },
  },
  {
    provider: "bedrock, with a Bedrock API key",
    variables: ({ url }) => ({
      CLAUDE_CODE_USE_BEDROCK: "1",
      AWS_REGION: "us-east-1",
      AWS_BEARER_TOKEN_BEDROCK: SECRET,
      ANTHROPIC_BEDROCK_BASE_URL: url,
    }),
    checkArrival({ path, headers }) {
      expect(path).toBe(`/model/us.anthropic.${MODEL}/invoke-with-response-stream`);
      expect(headers["authorization"]).toBe(`Bearer ${SECRET}`);
    },
  },
  {
    provider: "vertex",
    variables({ url }, { home }) {
      // Not a service account's key, because Google's client asks Google itself for that one's tokens.
      const file = join(home, "workload.json");
      writeFileSync(join(home, "subject"), SECRET);
      writeFileSync(
        file,
        JSON.stringify({
          type: "external_account",
          audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
          subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
          token_url: `${url}/token`,
          credential_source: { file: join(home, "subject") },
        }),
      );
      return {
        CLAUDE_CODE_USE_VERTEX: "1",
        CLOUD_ML_REGION: "europe-west1",
        ANTHROPIC_VERTEX_PROJECT_ID: "my-project",
        GOOGLE_APPLICATION_CREDENTIALS: file,
        ANTHROPIC_VERTEX_BASE_URL: url,
      };
    },
    secrets: [GOOGLE_TOKEN],
    checkArrival({ path, headers, body }) {
      expect(path).toBe(
        `/projects/my-project/locations/europe-west1/publishers/anthropic/models/${MODEL}:streamRawPredict`,
      );
      expect(headers["authorization"]).toBe(`Bearer ${GOOGLE_TOKEN}`);
      expect(headers["anthropic-beta"]?.includes("interleaved-thinking") ?? false).toBe(asksForBetas);
      expect(JSON.parse(body)).toMatchObject({ anthropic_version: expect.any(String), stream: true });
    },
  },
  {
    provider: "foundry",
    variables: ({ url }) => ({
      CLAUDE_CODE_USE_FOUNDRY: "1",
      ANTHROPIC_FOUNDRY_API_KEY: SECRET,
      ANTHROPIC_FOUNDRY_BASE_URL: url,
    }),
    checkArrival({ path, headers }) {
      expect(path).toBe(MESSAGES);
      expect(headers["x-api-key"]).toBe(SECRET);
      expect(headers["authorization"]).toBeUndefined();
    },
  },
];

test.for(CASES)("$provider: the provider gets what it needs, and the agent sees none of it", async (one) => {
  const { variables, secrets = [], checkArrival } = one;
  await using server = await providerServer(({ index }) =>
    index === 0 ? call("Bash", { command: LOOK }) : say("done"),
  );
  using cli = testCli();
  const environment = variables(server, cli);
  const { code, stdout, stderr } = await cli.run(["run", "--mode", "yolo", "look around"], { environment });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("done");
  // The figures are the model's own: they came through the provider's stream.
  expect(stdout).toMatch(/[\d,]+ tokens in, [\d,]+ out/);

  const requests = server.arrivals.filter(({ path }) => path !== "/token");
  expect(requests).toHaveLength(2);
  for (const request of requests) {
    expect(request.method).toBe("POST");
    checkArrival(request);
  }
  const [seen = ""] = server.toolResults;
  expect(seen).toContain("LOOKED");
  expect(seen).not.toMatch(/ANTHROPIC_(?:BASE_URL|AUTH_TOKEN)=/);
  for (const secret of [SECRET, ...secrets]) expect(seen).not.toContain(secret);
  // Nor does it learn which provider is asked, or where.
  for (const [name, value] of Object.entries(environment)) expect(seen).not.toContain(`${name}=${value}`);
  expect(seen).not.toContain(server.url);
});

/** A host of its own, as a program opens one, with two directories that do not lie in each other. */
async function hostWith(environment: Record<string, string>) {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(temporaryDirectory());
  const cwd = join(path, "work");
  mkdirSync(cwd);
  const home = join(path, "home");
  const host = stack.use(
    await openHost({ home, engine: TEST_ENGINE, environment: { PATH: process.env["PATH"], ...environment } }),
  );
  const parts = stack.move();
  return { host, cwd, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

test("a key that is refused ends the turn with the way out, and the next message uses what was mended", async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "key");
  writeFileSync(file, "key-that-has-expired\n");
  await using server = await providerServer(({ headers }) =>
    headers["x-api-key"] === "key-that-is-new"
      ? say("hello, key-that-is-new")
      : apiError(401, "authentication_error", "invalid x-api-key"),
  );
  await using scene = await hostWith({ ANTHROPIC_API_KEY_FILE: file, ANTHROPIC_BASE_URL: server.url });
  const session = await scene.host.startSession({ agent: agent(), cwd: scene.cwd });
  await expect(session.send("hi").result()).rejects.toMatchObject({
    code: "credential_rejected",
    message: expect.stringContaining(
      `invalid x-api-key. The credential of api_key came from the file ${file} (ANTHROPIC_API_KEY_FILE): put a valid one there. Then send a message to continue.`,
    ),
  });
  expect(server.arrivals).toHaveLength(1);
  writeFileSync(file, "key-that-is-new\n");
  expect((await session.send("hi again").result()).text).toBe("hello, [redacted:ANTHROPIC_API_KEY]");
  // The old one was not tried once more.
  expect(server.arrivals).toHaveLength(2);
  expect(JSON.stringify(await scene.host.read(session.id))).not.toContain("key-that-");
});

test("agents of one host may use different providers, and one that lacks something starts no process", async () => {
  await using server = await providerServer(() => say("hello"));
  await using scene = await hostWith({
    ANTHROPIC_API_KEY: SECRET,
    ANTHROPIC_BASE_URL: server.url,
    AWS_REGION: "us-east-1",
    AWS_BEARER_TOKEN_BEDROCK: SESSION,
    ANTHROPIC_BEDROCK_BASE_URL: server.url,
  });
  const { host, cwd } = scene;
  const turn = async (more: Partial<AgentInput>): Promise<string> => {
    const session = await host.startSession({ agent: agent(more), cwd });
    return (await session.send("hi").result()).text;
  };
  expect(await turn({})).toBe("hello");
  expect(await turn({ auth: "bedrock" })).toBe("hello");
  expect(server.arrivals.map(({ path, headers }) => [path, headers["x-api-key"] ?? headers["authorization"]])).toEqual([
    [MESSAGES, SECRET],
    [`/model/us.anthropic.${MODEL}/invoke-with-response-stream`, `Bearer ${SESSION}`],
  ]);
  const session = await host.startSession({ agent: agent({ auth: "foundry" }), cwd });
  await expect(session.send("hi").result()).rejects.toMatchObject({
    code: "credential_missing",
    message: expect.stringMatching(/ANTHROPIC_FOUNDRY_RESOURCE: .*ANTHROPIC_FOUNDRY_API_KEY: /),
  });
  expect(ofType(await host.read(session.id), "capstan.process_started")).toEqual([]);
});
