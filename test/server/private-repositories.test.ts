import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import type { HostAddresses } from "../../src/core/ports/workspace.ts";
import { publicRepository } from "../../src/server/files/repositories.ts";
import { cloneRequest, makeClone } from "../../src/workspace/kinds/clone-workspace.ts";
import { people } from "../support/api-people.ts";
import { temporaryDirectory } from "../support/host.ts";
import { type V1App, v1App } from "../support/v1-app.ts";
import { place } from "../support/v1-session.ts";
import { TEST_CERTIFICATE } from "./base-certificate.ts";

/** A host of repositories on this machine, which notes what it is asked and sends everybody elsewhere. */
async function gitHost(location = "") {
  const asked: string[] = [];
  let connections = 0;
  const server = createServer(TEST_CERTIFICATE, ({ url = "" }, response) => {
    asked.push(url);
    response.writeHead(302, { location }).end();
  });
  server.on("connection", () => (connections += 1));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/acme/site.git`;
  return { url, asked, connections: () => connections, [Symbol.dispose]: () => void server.close() };
}

let app: V1App | undefined;
/** Trusted by git, as hosts outside are. */
async function startApp(allowPrivateAddresses: boolean): Promise<V1App> {
  app = await v1App({ host: { capacity: { max_idle_processes: 0 } }, settings: { allowPrivateAddresses } });
  const certificate = join(app.home, "certificate.pem");
  writeFileSync(certificate, TEST_CERTIFICATE.cert);
  vi.stubEnv("GIT_SSL_CAINFO", certificate);
  return app;
}
afterEach(async () => {
  vi.unstubAllEnvs();
  await app?.[Symbol.asyncDispose]();
  app = undefined;
});

test("rejects a repository on this machine or in a private network before git starts", async () => {
  using host = await gitHost();
  const server = await startApp(false);
  const here = await place(await server.client());
  const { port } = new URL(host.url);
  const addresses = [
    host.url,
    `https://localhost:${port}/acme/site.git`,
    `https://git.localhost:${port}/acme/site.git`,
    // The name leads to this machine, which only its lookup can tell.
    `https://localhost.localdomain:${port}/acme/site.git`,
    `https://2130706433:${port}/acme/site.git`,
    "https://10.0.0.1/acme/site.git",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/acme/site.git",
    "https://[::ffff:192.168.0.1]/acme/site.git",
    "https://nobody.invalid/acme/site.git",
  ];
  for (const url of addresses) {
    const resources = [{ type: "github_repository", url, authorization_token: "ghp_secret" }];
    const { status, code, message } = await server.send("/v1/sessions", {
      role: "operator",
      body: { ...here, resources },
    });
    expect([url, status, code]).toEqual([url, 400, "invalid_input"]);
    expect(message).toMatch(/^https:.* is not allowed: .*server\.allow_private_addresses/);
  }
  expect((await server.send("/v1/sessions", { method: "GET" })).body).toMatchObject({ data: [] });
  expect(host.connections()).toBe(0);
});

test("if allowed, contacts the repository but follows no redirects", async () => {
  using elsewhere = await gitHost();
  using host = await gitHost(`${elsewhere.url}/info/refs?service=git-upload-pack`);
  const server = await startApp(true);
  const here = await place(await server.client());
  // git takes what stands before the @ for a name, and would ask another host than was checked.
  for (const url of [host.url, host.url.replace("/acme", "\\@nobody.invalid/acme")]) {
    const resources = [{ type: "github_repository", url }];
    const { status, message } = await server.send("/v1/sessions", { body: { ...here, resources } });
    expect(status).toBe(400);
    expect(message).toContain("Redirects are not followed");
  }
  expect(host.asked).toEqual([
    "/acme/site.git/info/refs?service=git-upload-pack",
    "/@nobody.invalid/acme/site.git/info/refs?service=git-upload-pack",
  ]);
  expect(elsewhere.connections()).toBe(0);
});

test("the same applies to an environment of kind clone, saved or inline", async () => {
  using host = await gitHost();
  const { api, admin, operator } = await people();
  await using _api = api;
  const definition = parseEnvironment({ workspace: { kind: "clone", from: host.url } });
  const { id } = (await admin.post("/api/environments", { name: "clone", definition })).body as { id: string };
  for (const answer of [
    await operator.post("/api/sessions", { environment_id: id }),
    await admin.post("/api/sessions", { environment: definition }),
  ]) {
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toMatch(/^https:\/\/127\.0\.0\.1:\d+ is not allowed/);
  }
  expect(host.connections()).toBe(0);
});

test("git connects to the checked address, whatever the name resolves to later", async () => {
  using host = await gitHost();
  const { port } = new URL(host.url);
  const url = `https://nobody.invalid:${port}/acme/site.git`;
  const settings = { kind: "clone", from: url } as const;
  using directory = temporaryDirectory();
  const capstanHome = join(directory.path, "capstan");
  const places = { home: directory.path, capstanHome, root: capstanHome, mountRoots: [] };
  const request = await cloneRequest({ sessionId: "sesn_1", source: directory.path, settings, places });
  const clone = async (hostAddresses: HostAddresses): Promise<unknown> =>
    makeClone(request, { files: join(directory.path, "files"), home: undefined, signal: undefined, hostAddresses });
  await expect(clone({})).rejects.toThrow();
  expect(host.connections()).toBe(0);
  await expect(clone({ [`nobody.invalid:${port}`]: ["127.0.0.1"] })).rejects.toThrow();
  expect(host.connections()).toBeGreaterThan(0);
});

test("keeps the addresses of a public name for git, and none for an IP address or if all are allowed", async () => {
  const closed = { allowPrivateAddresses: false };
  expect(await publicRepository(closed, "https://8.8.8.8/acme/site.git")).toEqual({
    url: "https://8.8.8.8/acme/site.git",
    hostAddresses: {},
  });
  expect(await publicRepository({ allowPrivateAddresses: true }, "https://nobody.invalid/x.git")).toEqual({
    url: "https://nobody.invalid/x.git",
    hostAddresses: {},
  });
});
