import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { clientPackage } from "../../src/gateway/upstreams/client-package.ts";
import { upstreamsFor } from "../../src/gateway/upstreams/upstreams.ts";
import type { HeaderList, Upstream, UpstreamResponse } from "../../src/gateway/upstreams/upstream.ts";
import { streamMeter } from "../../src/gateway/usage.ts";
import { temporaryDirectory } from "../support/host.ts";
import { say } from "../support/scripted-model.ts";
import { bedrockChunk, eventStreamFrame } from "./event-stream.ts";
import { providerServer } from "./provider-server.ts";
import { bytesOf, rawServer } from "./support.ts";

const SECRET = "s3cr3t-0f-a-cl0ud-8c1d";

const bedrock = (url: string): Promise<Upstream> =>
  upstreamsFor({
    environment: { AWS_REGION: "us-east-1", AWS_BEARER_TOKEN_BEDROCK: SECRET, ANTHROPIC_BEDROCK_BASE_URL: url },
  })("bedrock");
const foundry = (url: string): Promise<Upstream> =>
  upstreamsFor({ environment: { ANTHROPIC_FOUNDRY_API_KEY: SECRET, ANTHROPIC_FOUNDRY_BASE_URL: url } })("foundry");

/** With a credential that is asked for at `tokenUrl`. */
async function vertex(url: string, directory: string, tokenUrl = `${url}/token`): Promise<Upstream> {
  const file = join(directory, "workload.json");
  writeFileSync(join(directory, "subject"), SECRET);
  const credentials = {
    type: "external_account",
    audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: tokenUrl,
    credential_source: { file: join(directory, "subject") },
  };
  writeFileSync(file, JSON.stringify(credentials));
  const environment = {
    CLOUD_ML_REGION: "us-east5",
    ANTHROPIC_VERTEX_PROJECT_ID: "my-project",
    GOOGLE_APPLICATION_CREDENTIALS: file,
    ANTHROPIC_VERTEX_BASE_URL: url,
  };
  return upstreamsFor({ environment })("vertex");
}

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: HeaderList;
  readonly body?: Record<string, unknown>;
  readonly signal?: AbortSignal;
}

function send(upstream: Upstream, sent: Sent = {}): Promise<UpstreamResponse> {
  const body = { model: "claude-opus-4-8", max_tokens: 8, messages: [{ role: "user", content: "hi" }], ...sent.body };
  return upstream.send({
    method: sent.method ?? "POST",
    path: sent.path ?? "/v1/messages",
    headers: sent.headers ?? [["anthropic-version", "2023-06-01"]],
    body: Buffer.from(JSON.stringify(body)),
    signal: sent.signal ?? new AbortController().signal,
  });
}

async function errorOf(response: UpstreamResponse): Promise<{ status: number; type: string; message: string }> {
  const { error } = JSON.parse((await bytesOf(response.body)).toString()) as {
    error: { type: string; message: string };
  };
  return { status: response.status, ...error };
}

describe("Amazon Bedrock", () => {
  test("streams server-sent events, of which the usage is read", async () => {
    await using server = await providerServer(() => say("hello", { usage: { input_tokens: 7, output_tokens: 3 } }));
    const response = await send(await bedrock(server.url), {
      path: "/v1/messages?beta=true",
      headers: [["anthropic-beta", "a-2025-01-01,b-2025-01-02"]],
      body: { stream: true },
    });
    expect(response.headers).toContainEqual(["content-type", "text/event-stream; charset=utf-8"]);
    const meter = streamMeter();
    meter.push(await bytesOf(response.body));
    expect(meter.reading()).toMatchObject({ usage: { input_tokens: 7, output_tokens: 3 }, proven: "all" });
    const [arrival] = server.arrivals;
    expect(arrival?.path).toBe("/model/us.anthropic.claude-opus-4-8/invoke-with-response-stream");
    expect(JSON.parse(arrival?.body ?? "")).toMatchObject({ anthropic_beta: ["a-2025-01-01", "b-2025-01-02"] });
    expect(arrival?.headers["authorization"]).toBe(`Bearer ${SECRET}`);
  });

  test("answers in one piece as well", async () => {
    await using server = await providerServer(() => say("hello"));
    const response = await send(await bedrock(server.url));
    expect(JSON.parse((await bytesOf(response.body)).toString())).toMatchObject({ content: [{ text: "hello" }] });
    expect(server.arrivals[0]?.path).toBe("/model/us.anthropic.claude-opus-4-8/invoke");
  });

  test("that breaks off tells it in the stream", async () => {
    await using server = await rawServer((_req, res) => {
      res.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
      res.write(bedrockChunk(JSON.stringify({ type: "message_start", message: { usage: { input_tokens: 5 } } })));
      res.end(
        eventStreamFrame(JSON.stringify({ message: "Too many requests" }), {
          ":exception-type": "throttlingException",
          ":content-type": "application/json",
          ":message-type": "exception",
        }),
      );
    });
    const response = await send(await bedrock(server.url), { body: { stream: true } });
    const text = (await bytesOf(response.body)).toString();
    expect(text).toMatch(/^event: message_start\n/);
    expect(text).toContain('event: error\ndata: {"type":"error","error":{"type":"throttlingException"');
  });

  test.each([
    { path: "/v1/messages/count_tokens", method: "POST", says: "does not support POST /v1/messages/count_tokens" },
    { path: "/v1/models?limit=1000", method: "GET", says: "does not support GET /v1/models" },
  ])("has no $path, and says so", async ({ path, method, says }) => {
    const answer = await send(await bedrock("http://127.0.0.1:9"), { path, method });
    expect(await errorOf(answer)).toMatchObject({
      status: 404,
      type: "not_found_error",
      message: expect.stringContaining(says),
    });
  });

  test.each<[status: number, body: unknown, expected: object]>([
    [
      400,
      { message: "The provided model identifier is invalid." },
      {
        type: "invalid_request_error",
        message:
          "Amazon Bedrock: The provided model identifier is invalid. (model name at the provider: us.anthropic.claude-opus-4-8)",
      },
    ],
    [
      403,
      { Message: `no such key: ${SECRET}` },
      { type: "permission_error", message: "Amazon Bedrock: no such key: [redacted]" },
    ],
    [429, { message: "Too many tokens" }, { type: "rate_limit_error", message: "Amazon Bedrock: Too many tokens" }],
    [503, "<html>", { type: "api_error", message: expect.stringMatching(/^Amazon Bedrock: 503/) }],
  ])("with %i says why in words", async (status, body, expected) => {
    await using server = await rawServer((_req, res) => {
      res.writeHead(status, { "retry-after": "7" }).end(typeof body === "string" ? body : JSON.stringify(body));
    });
    const answer = await send(await bedrock(server.url));
    expect(answer.headers).toContainEqual(["retry-after", "7"]);
    expect(await errorOf(answer)).toMatchObject({ status, ...expected });
  });

  test("that cannot be reached is told by the code", async () => {
    const dead = await rawServer(() => {});
    await dead[Symbol.asyncDispose]();
    await expect(send(await bedrock(dead.url))).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("is cut when the signal aborts in the middle of an answer", async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await rawServer((_req, res) => {
      res.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
      res.write(bedrockChunk(JSON.stringify({ type: "ping" })));
      res.once("close", () => closed.resolve());
    });
    const cut = new AbortController();
    const response = await send(await bedrock(server.url), { body: { stream: true }, signal: cut.signal });
    const reading = (async () => {
      for await (const _chunk of response.body) cut.abort();
    })();
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
    await closed.promise;
  });

  test.each(["evil.example/", "us-east-1.example", "us east"])("in the region %j is refused", async (region) => {
    const environment = { AWS_REGION: region, AWS_BEARER_TOKEN_BEDROCK: SECRET };
    await expect(upstreamsFor({ environment })("bedrock")).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("Google Vertex AI", () => {
  test("gets an access token, the betas as a header, and counts tokens", async () => {
    using directory = temporaryDirectory();
    await using server = await providerServer(() => say("hello"));
    const upstream = await vertex(server.url, directory.path);
    const headers: HeaderList = [["anthropic-beta", "a-2025-01-01"]];
    await bytesOf((await send(upstream, { path: "/v1/messages/count_tokens?beta=true", headers })).body);
    await bytesOf((await send(upstream, { headers, body: { model: "claude-haiku-4-5-20251001", stream: true } })).body);
    const [token, counted, asked] = server.arrivals;
    expect(token?.path).toBe("/token");
    expect(token?.body).toContain(encodeURIComponent(SECRET));
    const models = "/projects/my-project/locations/us-east5/publishers/anthropic/models";
    expect(counted?.path).toBe(`${models}/count-tokens:rawPredict`);
    expect(asked?.path).toBe(`${models}/claude-haiku-4-5@20251001:streamRawPredict`);
    expect(asked?.headers).toMatchObject({
      "anthropic-beta": "a-2025-01-01",
      authorization: expect.stringMatching(/^Bearer ya29/),
    });
  });

  test("says why it refused, also in a list", async () => {
    using directory = temporaryDirectory();
    await using server = await rawServer((req, res) => {
      if (req.url === "/token") res.end(JSON.stringify({ access_token: "t", expires_in: 60 }));
      else
        res.writeHead(404).end(JSON.stringify([{ error: { code: 404, message: "Publisher Model was not found." } }]));
    });
    const answer = await send(await vertex(server.url, directory.path));
    expect((await errorOf(answer)).message).toBe(
      "Google Vertex AI: Publisher Model was not found. (model name at the provider: claude-opus-4-8)",
    );
  });

  test("whose credential is not given is a refusal", async () => {
    using directory = temporaryDirectory();
    await using server = await rawServer((_req, res) => {
      res.writeHead(400, { "content-type": "application/json" });
      res.end(JSON.stringify({ error: "invalid_grant", error_description: "The subject token has expired." }));
    });
    const upstream = await vertex(server.url, directory.path);
    expect(await errorOf(await send(upstream))).toMatchObject({
      status: 401,
      message: expect.stringContaining("The subject token has expired."),
    });
    expect(upstream.remedy).toContain(join(directory.path, "workload.json"));
  });

  test.each([
    ["", "must contain a JSON object"],
    ["no", "must contain a JSON object"],
  ])("with a credential file that says %j names it", async (content, says) => {
    using directory = temporaryDirectory();
    const file = join(directory.path, "key.json");
    writeFileSync(file, content);
    const environment = {
      CLOUD_ML_REGION: "global",
      ANTHROPIC_VERTEX_PROJECT_ID: "p",
      GOOGLE_APPLICATION_CREDENTIALS: file,
    };
    await expect(upstreamsFor({ environment })("vertex")).rejects.toMatchObject({
      code: "credential_missing",
      message: expect.stringContaining(says),
    });
  });
});

describe("Microsoft Foundry", () => {
  test("gets its key and the betas as they are", async () => {
    await using server = await providerServer(() => say("hello"));
    const headers: HeaderList = [["anthropic-beta", "a-2025-01-01"]];
    const response = await send(await foundry(`${server.url}/`), {
      path: "/v1/messages?beta=true",
      headers,
      body: { stream: true },
    });
    expect((await bytesOf(response.body)).toString()).toContain("hello");
    expect(server.arrivals[0]).toMatchObject({
      path: "/v1/messages?beta=true",
      headers: { "x-api-key": SECRET, "anthropic-beta": "a-2025-01-01" },
    });
  });
});

test("a client that is not installed is asked for with the command that installs it", async () => {
  const name: string = "@anthropic-ai/a-client-that-is-not-installed";
  await expect(clientPackage(() => import(name), "vertex")).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining(
      "Run npm install @anthropic-ai/vertex-sdk google-auth-library where Capstan is installed",
    ),
  });
});
