import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clock } from "../../src/app/clock.ts";
import { WorkerPool } from "../../src/app/heavy/pool.ts";
import { apiPorts } from "../../src/app/serve/serve-ports.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { apiApp } from "../support/api-app.ts";
import { temporaryDirectory } from "../support/host.ts";

const WIDE = "permissions: { mode: yolo, deny: [WebFetch] }\n";
const WIDER = "permissions: { mode: yolo, allow: [Bash], deny: [WebFetch] }\n";

/** A server on a project whose settings someone wrote. */
async function startServer(settings: string) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const project = join(realpathSync(directory.path), "project");
  mkdirSync(join(project, ".capstan"), { recursive: true });
  const file = join(project, ".capstan/config.yaml");
  writeFileSync(file, settings);
  const shell = { CAPSTAN_HOME: join(directory.path, "home"), HOME: directory.path };
  const configuration = await loadConfiguration({ cwd: project, environment: shell, flags: {} });
  const store = stack.use(await openSqliteStore({ path: join(directory.path, "capstan.db"), clock }));
  const pool = stack.use(new WorkerPool({ home: configuration.home, environment: {} }));
  const { trust, defaults } = apiPorts({ configuration, shell, cwd: project }, store, pool);
  if (trust === undefined || defaults === undefined) throw new Error("The ports are missing.");
  const api = stack.use(await apiApp({ ports: { trust, defaults } }));
  const [viewer, operator, admin] = [
    await api.as("viewer", project),
    await api.as("operator", project),
    await api.as("admin", project),
  ];
  const modeOf = async () => (await defaults(project)).agent.permissions.mode;
  const denied = async () => (await defaults(project)).agent.permissions.deny;
  const parts = stack.move();
  return { viewer, operator, admin, file, modeOf, denied, api, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

test("an operator sees what a file would widen, and only an admin trusts it, for the next session", async () => {
  await using s = await startServer(WIDE);
  expect((await s.viewer.get("/api/trust")).status).toBe(403);
  const [entry] = (await s.operator.get("/api/trust")).body.data;
  expect(entry).toMatchObject({
    kind: "settings",
    path: s.file,
    trusted: false,
    widens: [{ field: "permissions.mode", text: expect.stringContaining("yolo"), required: false }],
    diff: null,
  });
  expect((await s.operator.post("/api/trust", { hash: entry.hash })).status).toBe(403);
  expect(await s.modeOf()).toBe("normal");
  expect((await s.admin.post("/api/trust", { hash: entry.hash })).body).toMatchObject({
    trusted: true,
    trusted_by: "admin-key",
    // By now it is in force, and nothing else is.
    widens: [{ text: "permissions.mode: yolo — lets more tool calls run without asking" }],
  });
  expect(await s.modeOf()).toBe("yolo");
  expect((await s.operator.send("DELETE", `/api/trust/${entry.hash}`)).status).toBe(403);
  expect((await s.admin.send("DELETE", `/api/trust/${entry.hash}`)).body).toEqual({ hash: entry.hash, revoked: true });
  expect((await s.admin.send("DELETE", `/api/trust/${entry.hash}`)).status).toBe(404);
  expect(await s.modeOf()).toBe("normal");
});

test("a file that changed between looking and trusting is not trusted, and its change is shown", async () => {
  await using s = await startServer(WIDE);
  const [seen] = (await s.admin.get("/api/trust")).body.data;
  await s.admin.post("/api/trust", { hash: seen.hash });
  writeFileSync(s.file, WIDER);
  const [changed] = (await s.admin.get("/api/trust")).body.data;
  expect(changed).toMatchObject({ trusted: false, diff: expect.stringContaining(`+${WIDER}`) });
  writeFileSync(s.file, `${WIDER}# once more\n`);
  const refused = await s.admin.post("/api/trust", { hash: changed.hash });
  expect(refused.status).toBe(409);
  expect(refused.body.error.message).toContain("nothing was trusted");
  expect(await s.modeOf()).toBe("normal");
});

test("trust in content that has changed or is gone can be revoked, and then its restrictions end", async () => {
  await using s = await startServer(WIDE);
  const trustIt = async () => {
    const [seen] = (await s.admin.get("/api/trust")).body.data;
    expect((await s.admin.post("/api/trust", { hash: seen.hash })).status).toBe(200);
    return seen.hash;
  };
  const first = await trustIt();
  writeFileSync(s.file, "permissions: { mode: yolo }\n");
  const [changed] = (await s.admin.get("/api/trust")).body.data;
  expect(changed).toMatchObject({ trusted: false, trusted_hash: first, missing: false });
  expect(await s.denied()).toEqual(["WebFetch"]);
  expect((await s.admin.send("DELETE", `/api/trust/${changed.trusted_hash}`)).status).toBe(200);
  expect((await s.admin.get("/api/trust")).body.data).toMatchObject([{ trusted_hash: null, diff: null }]);
  expect(await s.denied()).toEqual([]);

  writeFileSync(s.file, WIDE);
  const again = await trustIt();
  rmSync(s.file);
  const [gone] = (await s.admin.get("/api/trust")).body.data;
  expect(gone).toMatchObject({ path: s.file, missing: true, trusted: false, trusted_hash: again, widens: [] });
  expect(gone.diff).toContain(`-${WIDE}`);
  expect((await s.admin.post("/api/trust", { hash: gone.hash })).status).toBe(409);
  expect(await s.denied()).toEqual(["WebFetch"]);
  expect((await s.admin.send("DELETE", `/api/trust/${gone.trusted_hash}`)).status).toBe(200);
  expect((await s.admin.get("/api/trust")).body.data).toEqual([]);
  expect(await s.denied()).toEqual([]);
});

test("a long value is shown to its end, so that nothing is trusted unseen", async () => {
  const rules = [`Bash(echo ${"x".repeat(1_000)})`, "Bash(rm *)"];
  await using s = await startServer(`permissions: { allow: ${JSON.stringify(rules)} }\n`);
  const [entry] = (await s.operator.get("/api/trust")).body.data;
  expect(entry.widens[0].text).toContain('"Bash(rm *)"]');
  const endless = Array.from({ length: 30 }, (_, at) => `Bash(echo ${"x".repeat(900)}${at})`);
  writeFileSync(s.file, `permissions: { allow: ${JSON.stringify(endless)} }\n`);
  const [cut] = (await s.operator.get("/api/trust")).body.data;
  expect(cut.widens[0].text).toMatch(/… \(1\d,\d{3} more characters\) — /);
});

test("another project's key sees and trusts nothing of it", async () => {
  await using s = await startServer(WIDE);
  const [entry] = (await s.admin.get("/api/trust")).body.data;
  const stranger = await s.api.as("admin");
  expect((await stranger.get("/api/trust")).body.data).toEqual([]);
  expect((await stranger.post("/api/trust", { hash: entry.hash })).status).toBe(409);
  await s.admin.post("/api/trust", { hash: entry.hash });
  expect((await stranger.send("DELETE", `/api/trust/${entry.hash}`)).status).toBe(404);
});
