import { createReadStream, existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import type Anthropic from "@anthropic-ai/sdk";
import { NotFoundError, toFile } from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { refusal, type V1App, v1App } from "../support/v1-app.ts";

const MAX = 100_000;

let app: V1App;
let client: Anthropic;
beforeAll(async () => {
  app = await v1App({ settings: { maxUploadBytes: MAX } });
  client = await app.client();
});
afterAll(() => app[Symbol.asyncDispose]());

test("keeps a file exactly as sent", async () => {
  const path = join(app.home, "table.csv");
  const content = `name,value\n${"a,1\r\n--boundary\r\n".repeat(1_000)}`;
  writeFileSync(path, content);
  const uploaded = await client.beta.files.upload({ file: createReadStream(path), expires_in_seconds: 3_600 });
  expect(uploaded).toMatchObject({
    type: "file",
    id: expect.stringMatching(/^file_[0-9a-f]{32}$/),
    filename: "table.csv",
    size_bytes: content.length,
    downloadable: true,
    scope: null,
  });
  expect(Date.parse(uploaded.expires_at ?? "")).toBe(Date.parse(uploaded.created_at) + 3_600_000);
  expect(await client.beta.files.retrieveMetadata(uploaded.id)).toEqual(uploaded);
  const download = await client.beta.files.download(uploaded.id);
  expect(await download.text()).toBe(content);
  expect(download.headers.get("content-disposition")).toBe(
    "attachment; filename=\"table.csv\"; filename*=UTF-8''table.csv",
  );
  expect(await client.beta.files.delete(uploaded.id)).toEqual({ type: "file_deleted", id: uploaded.id });
  expect(await refusal(client.beta.files.download(uploaded.id))).toBeInstanceOf(NotFoundError);
  expect(existsSync(app.deps.contents.path(uploaded.id))).toBe(false);
});

/** Handles of this process, which is the server's too, that are open on a file. */
function handlesOn(path: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      // The handle that read the list.
      return false;
    }
  }).length;
}

test("leaves no file open after a HEAD request or an early disconnect", async () => {
  const { contents, registry, ids, clock } = app.deps;
  const id = ids.next("file");
  // More than lies between two ends of a connection.
  const { sizeBytes } = await contents.write(id, new Blob([Buffer.alloc(30_000_000)]).stream(), 100_000_000);
  await registry.files.create({
    id,
    project: "default",
    filename: "held.bin",
    mimeType: "application/octet-stream",
    sizeBytes,
    createdAt: clock.now(),
    expiresAt: null,
  });
  const headers = { "x-api-key": client.apiKey ?? "" };
  const address = `${app.url}/v1/files/${id}/content`;
  const head = await fetch(address, { method: "HEAD", headers });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, String(sizeBytes)]);
  expect(handlesOn(contents.path(id))).toBe(0);

  const leaving = new AbortController();
  const download = await fetch(address, { headers, signal: leaving.signal });
  await download.body?.getReader().read();
  expect(handlesOn(contents.path(id))).toBe(1);
  leaving.abort();
  await expect.poll(() => handlesOn(contents.path(id))).toBe(0);

  // Also before the first byte.
  const { port, host, pathname } = new URL(address);
  const request = `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${client.apiKey}\r\n\r\n`;
  for (let n = 0; n < 20; n += 1) {
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(request, () => setTimeout(() => socket.destroy(), n / 4));
    await once(socket, "close");
  }
  await expect.poll(() => handlesOn(contents.path(id))).toBe(0);
});

test.for([
  ["../../etc/passwd", "passwd"],
  ["C:\\temp\\notes.txt", "notes.txt"],
  ['Übersicht "1".md', 'Übersicht "1".md'],
  ["..", "unnamed.txt"],
  ["a'b; c.txt", "a'b; c.txt"],
])("keeps the name %s as %s, which is safe in a header", async ([given, kept]) => {
  const file = await toFile(Buffer.from("x"), given, { type: "text/plain" });
  const { id, filename, mime_type } = await client.beta.files.upload({ file });
  expect(filename).toBe(kept);
  expect(mime_type).toBe("text/plain");
  const header = (await client.beta.files.download(id)).headers.get("content-disposition") ?? "";
  const [, encoded = ""] = /filename\*=UTF-8''(\S+)$/.exec(header) ?? [];
  expect(decodeURIComponent(encoded)).toBe(kept);
});

test("serves files that could be pages only as downloads", async () => {
  const file = await toFile(Buffer.from("<script>"), "x.html", { type: "text/html" });
  const { id } = await client.beta.files.upload({ file });
  const { headers } = await client.beta.files.download(id);
  expect(headers.get("content-disposition")).toMatch(/^attachment/);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("content-security-policy")).toContain("sandbox");
});

test("lists files page by page, or by id", async () => {
  const lister = await app.client("operator", "lists");
  const ids: string[] = [];
  for (const name of ["a", "b", "c"])
    ids.unshift((await lister.beta.files.upload({ file: await toFile(Buffer.from(name), name) })).id);
  const found: string[] = [];
  for await (const { id } of lister.beta.files.list({ limit: 2 })) found.push(id);
  expect(found).toEqual(ids);
  const named = await lister.beta.files.list({ ids: [ids[2] ?? "", "file_gone", ids[0] ?? ""] });
  expect(named.data.map(({ id }) => id)).toEqual([ids[0], ids[2]]);
  expect(named.next_page).toBeNull();
  expect((await refusal(lister.beta.files.list({ ids, limit: 1 }))).status).toBe(400);
  expect((await refusal(lister.beta.files.list({ scope_id: "sesn_1" }))).apiMessage).toContain("does not support");
});

test("rejects a file that is too large, and leaves nothing behind", async () => {
  const file = await toFile(Buffer.alloc(MAX + 1), "large.bin");
  const error = await refusal(client.beta.files.upload({ file }));
  expect(error.status).toBe(413);
  expect((await client.beta.files.list({ limit: 1_000 })).data.some(({ filename }) => filename === "large.bin")).toBe(
    false,
  );
});

const form = (...parts: readonly string[]): string => parts.map((part) => `--X\r\n${part}\r\n`).join("");
const file = 'content-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello';
const field = (name: string, value: string): string => `content-disposition: form-data; name="${name}"\r\n\r\n${value}`;

async function sendForm(body: string): Promise<{ status: number; message: string }> {
  return app.send("/v1/files", { body, headers: { "content-type": "multipart/form-data; boundary=X" } });
}

test("the parts of a form may come in any order", async () => {
  expect((await sendForm(`${form(field("expires_in_seconds", "7200"), file)}--X--\r\n`)).status).toBe(200);
  expect((await sendForm(`preamble\r\n${form(file)}--X--`)).status).toBe(200);
});

test.for([
  ["has no file", `${form(field("expires_in_seconds", "7200"))}--X--`],
  ["an hour", `${form(file, field("expires_in_seconds", "5"))}--X--`],
  ["number of seconds", `${form(file, field("expires_in_seconds", "soon"))}--X--`],
  ['Unknown field "colour". Send the file in the field `file`.', `${form(file, field("colour", "red"))}--X--`],
  ["twice", `${form(file, file)}--X--`],
  ["no name", `${form("content-type: text/plain\r\n\r\nx")}--X--`],
  ["control characters", `${form('content-disposition: form-data; name="file"; filename="a%0Ab"\r\n\r\nx')}--X--`],
  ["incomplete", form(file)],
  ["incomplete", "hello"],
  ["incomplete", `--X\r\n${"a".repeat(50_000)}`],
])("rejects an invalid form: %s", async ([said = "", body = ""]) => {
  const before = (await client.beta.files.list({ limit: 1_000 })).data.length;
  const { status, message } = await sendForm(body);
  expect(status).toBe(400);
  expect(message).toContain(said);
  expect((await client.beta.files.list({ limit: 1_000 })).data.length).toBe(before);
});

test("rejects requests that are not forms", async () => {
  const { status, message } = await app.send("/v1/files", { body: { file: "x" } });
  expect(status).toBe(400);
  expect(message).toContain("multipart/form-data");
});
