import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/app/open-store.ts";
import { findProject } from "../../src/config/project/project.ts";
import { sampleMessage, sampleOwner, sampleSession } from "../store/samples.ts";
import { testCli } from "../support/cli.ts";
import { keyOf, type ServedChild, serveChild } from "../support/served/child.ts";

/** Smaller than the requested log, many times over. */
const HEAP = 128;
const SMALL_HEAP = { environment: { NODE_OPTIONS: `--max-old-space-size=${HEAP}` } };
const EVENTS = 1_200;
const EVENT_BYTES = 100_000;
const ID = "sesn_large";

/** A session whose log is as large as the whole heap. */
async function putLargeLog(home: string, project: string): Promise<void> {
  await using store = await openStore(home, {});
  await store.createSession(sampleSession(ID, { project }));
  const { fence } = await store.leases.acquire(ID, sampleOwner("host_1"), 60_000);
  for (let after = 0; after < EVENTS; after += 100) {
    const events = Array.from({ length: 100 }, (_, at) => sampleMessage(`${after + at}`.padEnd(EVENT_BYTES, "x")));
    await store.append(ID, { after, events, fence });
  }
}

/** Sends a request and reads no response. */
function ask({ port }: ServedChild, path: string, key: string): void {
  const socket = connect(port, "127.0.0.1").pause();
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-api-key: ${key}\r\n\r\n`);
}

test("survives a viewer who repeatedly requests a log as large as the heap without reading it", async () => {
  using cli = testCli();
  await putLargeLog(join(cli.home, ".capstan"), findProject(cli.cwd, { HOME: cli.home }).id);
  const viewer = await keyOf(cli, "viewer");
  await using server = await serveChild(cli, SMALL_HEAP);
  const headers = { "x-api-key": viewer };
  const get = (path: string): Promise<Response> => fetch(`${server.url}${path}`, { headers });
  expect((await get(`/api/sessions/${ID}`)).status).toBe(200);
  const paths = [
    `/api/sessions/${ID}/stream`,
    `/v1/sessions/${ID}/events/stream`,
    `/api/sessions/${ID}/events?limit=1000`,
    `/v1/sessions/${ID}/events?limit=1000`,
    `/api/sessions/${ID}/export`,
    `/api/sessions/${ID}/state?at=600`,
    `/api/sessions/${ID}/checkpoints`,
    `/api/sessions/${ID}/diff`,
  ];
  for (let round = 0; round < 10; round += 1)
    for (const path of paths) {
      ask(server, path, viewer);
      // Clients that read get an answer, or are told to retry.
      const { status } = await get("/api/whoami");
      expect([200, 429, 503], path).toContain(status);
    }
  expect(server.isRunning()).toBe(true);
});
