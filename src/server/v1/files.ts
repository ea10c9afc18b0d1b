import { type Context, Hono } from "hono";
import { onAbort } from "../../core/text/on-abort.ts";
import type { FileRecord } from "../../core/ports/registry.ts";
import {
  attachment,
  fileListQuery,
  fileToWireV1,
  lifetime,
  plainType,
  requireOneWay,
  safeFilename,
} from "../../protocol/v1/files.ts";
import { DEFAULT_LIMIT } from "../../protocol/v1/queries.ts";
import { invalid, parseRequest } from "../../protocol/v1/refusal.ts";
import { readUpload } from "../body/read.ts";
import { type Env, requireRole, type ServerDeps } from "../http/context.ts";
import { findStoredFile, notFound } from "../http/lookup.ts";
import { boundaryOf, readMultipart } from "./multipart.ts";
import { readListPage, param, readQuery, requireNoQuery } from "./request.ts";

export function fileRoutes(deps: ServerDeps): Hono<Env> {
  const { registry, contents, clock } = deps;
  const routes = new Hono<Env>();

  routes.post("/files", async (c) => {
    const { project } = requireRole(c, "operator");
    return c.json(fileToWireV1(await upload(deps, c, project)));
  });

  routes.get("/files", async (c) => {
    const { project } = requireRole(c, "viewer");
    const query = readQuery(c, fileListQuery);
    requireOneWay(query);
    const { ids, page } = query;
    const limit = ids === undefined ? (query.limit ?? DEFAULT_LIMIT) : Math.max(1, ids.length);
    const { items, next_page } = await readListPage(
      "files",
      { limit, page },
      {
        read: (range) =>
          registry.files.list(project, { ...range, now: clock.now(), ...(ids !== undefined && { ids }) }),
        at: ({ id }) => id,
      },
    );
    return c.json({ data: items.map(fileToWireV1), next_page });
  });

  routes.get("/files/:file", async (c) => {
    const { project } = requireRole(c, "viewer");
    requireNoQuery(c);
    return c.json(fileToWireV1(await findStoredFile(deps, project, param(c, "file"))));
  });

  routes.get("/files/:file/content", async (c) => {
    const { project } = requireRole(c, "viewer");
    requireNoQuery(c);
    const { id, filename, mimeType, sizeBytes } = await findStoredFile(deps, project, param(c, "file"));
    const headers = {
      "content-type": mimeType,
      "content-length": String(sizeBytes),
      // A browser must not render an upload as a page of this server.
      "content-disposition": attachment(filename),
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    };
    // A HEAD request reads no content.
    if (c.req.method === "HEAD") return c.body(null, 200, headers);
    const content = await contents.read(id);
    closeWithClient(content, c.req.raw.signal);
    return c.body(content, 200, headers);
  });

  routes.delete("/files/:file", async (c) => {
    const { project } = requireRole(c, "operator");
    requireNoQuery(c);
    const id = param(c, "file");
    if (!(await registry.files.delete(project, id))) throw notFound("file", id);
    await contents.remove(id);
    return c.json({ type: "file_deleted", id });
  });

  return routes;
}

/** If the client disconnects, nothing reads the body, which would keep the file open. */
function closeWithClient(content: ReadableStream<Uint8Array>, gone: AbortSignal): void {
  // A reader that already has the stream cancels it itself.
  onAbort(gone, () => void content.cancel().catch(() => {}));
}

/** Writes the content as it arrives. If the form turns out to be invalid, nothing is kept. */
async function upload(
  { registry, contents, clock, ids, settings }: ServerDeps,
  c: Context<Env>,
  project: string,
): Promise<FileRecord> {
  const boundary = boundaryOf(c.req.header("content-type"));
  const body = readUpload(c);
  if (body === undefined) throw invalid("The request has no body. Send the file as a form in the field `file`.");
  let file: Omit<FileRecord, "expiresAt"> | undefined;
  let expiresIn: number | undefined;
  try {
    for await (const part of readMultipart(body, boundary)) {
      if (part.name === "expires_in_seconds")
        expiresIn = parseRequest("the form", lifetime, await shortText(part.body));
      else if (part.name !== "file")
        throw invalid(`Unknown field ${JSON.stringify(part.name)}. Send the file in the field \`file\`.`);
      else if (file !== undefined) throw invalid("file: the form has this field twice. Upload one file at a time.");
      else {
        const mimeType = plainType(part.type);
        const named = { id: ids.next("file"), project, filename: safeFilename(part.filename, mimeType), mimeType };
        const { sizeBytes } = await contents.write(named.id, part.body, settings.maxUploadBytes);
        file = { ...named, sizeBytes, createdAt: clock.now() };
      }
    }
    if (file === undefined) throw invalid("file: the form has no file. Send it in the field `file`.");
    const expiresAt = expiresIn === undefined ? null : file.createdAt + expiresIn * 1_000;
    await registry.files.create({ ...file, expiresAt });
    return { ...file, expiresAt };
  } catch (thrown) {
    if (file !== undefined) await contents.remove(file.id).catch(() => {});
    throw thrown;
  }
}

/** In bytes. */
const MAX_TEXT = 1_024;

async function shortText(body: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_TEXT) throw invalid("A field of the form is too long. Shorten it to 1,024 bytes.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
