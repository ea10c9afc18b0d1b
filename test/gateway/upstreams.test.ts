import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { CapstanError } from "../../src/core/errors.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import type { Environment } from "../../src/gateway/credentials/secret-source.ts";
import { upstreamsFor } from "../../src/gateway/upstreams/upstreams.ts";
import type { HeaderList, UpstreamResponse } from "../../src/gateway/upstreams/upstream.ts";
import { ask, bytesOf, ledger, rawServer } from "./support.ts";

const SECRET = "sk-ant-very-secret-1234567890";

async function temporary(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "capstan-upstreams-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** A server that answers with the headers it got. */
const echo = () => rawServer((req, res) => void res.end(JSON.stringify({ ...req.headers, url: req.url })));

async function sentHeaders(environment: Environment, headers: HeaderList = []): Promise<Record<string, string>> {
  const upstream = await upstreamsFor({ environment })();
  const response = await upstream.send({
    method: "POST",
    path: "/v1/messages?beta=true",
    headers,
    body: Buffer.from("{}"),
    signal: new AbortController().signal,
  });
  return JSON.parse((await bytesOf(response.body)).toString()) as Record<string, string>;
}

describe("the credential in the environment", () => {
  test.each([
    ["an API key", { ANTHROPIC_API_KEY: SECRET }, { "x-api-key": SECRET, authorization: undefined }],
    ["an auth token", { ANTHROPIC_AUTH_TOKEN: SECRET }, { authorization: `Bearer ${SECRET}`, "x-api-key": undefined }],
    [
      "an OAuth token",
      { CLAUDE_CODE_OAUTH_TOKEN: SECRET },
      { authorization: `Bearer ${SECRET}`, "x-api-key": undefined },
    ],
    [
      "all three: the key wins",
      { ANTHROPIC_API_KEY: SECRET, ANTHROPIC_AUTH_TOKEN: "b", CLAUDE_CODE_OAUTH_TOKEN: "c" },
      { "x-api-key": SECRET, authorization: undefined },
    ],
    [
      "an empty key beside a token",
      { ANTHROPIC_API_KEY: "", ANTHROPIC_AUTH_TOKEN: SECRET },
      { authorization: `Bearer ${SECRET}`, "x-api-key": undefined },
    ],
  ])("is sent: %s", async (_name, environment, expected) => {
    await using server = await echo();
    const headers = await sentHeaders({ ...environment, ANTHROPIC_BASE_URL: server.url });
    expect(headers).toMatchObject({ "accept-encoding": "identity", "content-length": "2" });
    expect({ "x-api-key": headers["x-api-key"], authorization: headers["authorization"] }).toEqual(expected);
  });

  test.each([
    ["joins the other betas", [["Anthropic-Beta", "a,b"]], "a,b,oauth-2025-04-20"],
    ["is not repeated", [["anthropic-beta", "oauth-2025-04-20,b"]], "oauth-2025-04-20,b"],
    ["stands alone", [], "oauth-2025-04-20"],
  ] as const)("of a subscription needs a beta, which %s", async (_name, headers, expected) => {
    await using server = await echo();
    const environment = { CLAUDE_CODE_OAUTH_TOKEN: SECRET, ANTHROPIC_BASE_URL: server.url };
    expect((await sentHeaders(environment, headers))["anthropic-beta"]).toBe(expected);
  });

  test("an API key brings no beta with it", async () => {
    await using server = await echo();
    const environment = { ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: server.url };
    expect(await sentHeaders(environment)).not.toHaveProperty("anthropic-beta");
  });

  test("may lie in a file", async () => {
    await using directory = await temporary();
    await using server = await echo();
    const file = join(directory.path, "key");
    await writeFile(file, `${SECRET}\n`);
    const headers = await sentHeaders({ ANTHROPIC_API_KEY_FILE: file, ANTHROPIC_BASE_URL: server.url });
    expect(headers["x-api-key"]).toBe(SECRET);
  });

  test("may stand behind a base URL with a path", async () => {
    await using server = await echo();
    const headers = await sentHeaders({ ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: `${server.url}/proxy/` });
    expect(headers["url"]).toBe("/proxy/v1/messages?beta=true");
    expect(headers["host"]).toBe(new URL(server.url).host);
  });

  test("is named when it is missing", async () => {
    const missing = await upstreamsFor({ environment: {} })().catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(CapstanError);
    expect(missing).toMatchObject({ code: "credential_missing", exitCode: 2 });
    for (const name of ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "_FILE"])
      expect((missing as CapstanError).message).toContain(name);
  });

  test.each([
    ["a file that is not there", { ANTHROPIC_API_KEY_FILE: "/nowhere/key" }, "credential_missing"],
    ["a file that is empty", { ANTHROPIC_AUTH_TOKEN_FILE: "/dev/null" }, "credential_missing"],
    ["a key with a line break", { ANTHROPIC_API_KEY: `${SECRET}\nx` }, "credential_missing"],
    ["a key that is not ASCII", { ANTHROPIC_API_KEY: `${SECRET}é` }, "credential_missing"],
    ["an address that is none", { ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: SECRET }, "invalid_input"],
    ["another protocol", { ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: "ftp://x" }, "invalid_input"],
    [
      "a password in the address",
      { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: `https://u:${SECRET}@x` },
      "invalid_input",
    ],
  ])("is refused without being shown: %s", async (_name, environment, code) => {
    const error = await upstreamsFor({ environment })().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(SECRET);
  });
});

const show = (value: unknown): string => inspect(value, { depth: Infinity, showHidden: true, getters: true });
const request = () => ({
  method: "POST",
  path: "/v1/messages",
  headers: [],
  body: Buffer.from("{}"),
  signal: new AbortController().signal,
});

describe("a secret shows nowhere", () => {
  test.each(["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"])(
    "%s: not in the upstream, its answers, the gateway or the session's access",
    async (variable) => {
      const answered = Promise.withResolvers<void>();
      await using server = await rawServer(async (_req, res) => {
        res.writeHead(200).write("{");
        await answered.promise;
        res.end("}");
      });
      const upstream = await upstreamsFor({ environment: { [variable]: SECRET, ANTHROPIC_BASE_URL: server.url } })();
      const response: UpstreamResponse = await upstream.send(request());
      await using gateway = await openGateway({ upstream, clock: { now: () => 0 } });
      const access = await gateway.admit(ledger());
      for (const value of [upstream, response, gateway, access]) expect(show(value)).not.toContain(SECRET);
      answered.resolve();
      await bytesOf(response.body);
      expect(show(response)).not.toContain(SECRET);
    },
  );

  test("not in the error of an upstream that cannot be reached, nor of one that is aborted", async () => {
    const dead = await rawServer(() => {});
    await dead[Symbol.asyncDispose]();
    const unreachable = await upstreamsFor({
      environment: { ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: dead.url },
    })();
    const refused = await unreachable.send(request()).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
    expect(show(refused)).not.toContain(SECRET);
    const aborted = await unreachable
      .send({ ...request(), signal: AbortSignal.abort() })
      .catch((error: unknown) => error);
    expect(aborted).toMatchObject({ name: "AbortError" });
    expect(show(aborted)).not.toContain(SECRET);
  });

  test("not in a refusal that quotes it", async () => {
    const quote = JSON.stringify({ error: { type: "authentication_error", message: `no such key: ${SECRET}` } });
    await using server = await rawServer((_req, res) => void res.writeHead(401).end(quote));
    const upstream = await upstreamsFor({
      environment: { ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: server.url },
    })();
    await using gateway = await openGateway({ upstream, clock: { now: () => 0 } });
    const session = ledger();
    const access = await gateway.admit(session);
    const answer = await ask(access.url, { token: access.token });
    expect(answer.error.message).toBe("no such key: [redacted]");
    expect(show([answer, session.rejected])).not.toContain(SECRET);
  });
});
