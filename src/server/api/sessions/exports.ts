import type { ReadStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { onAbort } from "../../../core/text/on-abort.ts";
import { branchExport, branchInput } from "../../../protocol/api/files.ts";
import { findSession } from "../../http/lookup.ts";
import type { ApiDeps } from "../deps.ts";
import { type Api, endpoint, type Heavy } from "../endpoint.ts";
import { requireOpenChanges, requireOpenFiles } from "../files/hidden-files.ts";

const tag = "Workspace";

/** Exports of a session's files. The log records them, and the workspace may then be removed. */
export function addExports(api: Api, deps: ApiDeps, heavy: Heavy): void {
  const { files } = deps.runtime;

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/export/patch",
      heavy,
      role: "operator",
      tag,
      summary: "Export the changes as a patch",
      description: "All changes since the session's start. Counts as an export. Admins only if a hidden file changed.",
      answer: "text/x-diff",
    },
    async ({ c, caller, params: { id }, limits }) => {
      await requireOpenChanges(deps, { caller, record: await findSession(deps, caller.project, id), limits });
      const patch = await files.exportPatch(id, `api:${caller.id}`, undefined, limits);
      c.header("content-type", "text/x-diff; charset=utf-8");
      return c.body(new Uint8Array(patch));
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/export/zip",
      heavy,
      role: "operator",
      tag,
      summary: "Export the files as a zip file",
      description: "All current files. Counts as an export. Admins only if there is a hidden file among them.",
      answer: "application/zip",
    },
    async ({ c, caller, params: { id }, signal, limits }) => {
      await requireOpenFiles(deps, { caller, record: await findSession(deps, caller.project, id), limits });
      const { size, stream } = await madeAside((file) => files.exportZip(id, file, limits));
      // If the client disconnects before the first byte, nothing reads the body.
      onAbort(signal, () => stream.destroy());
      c.header("content-type", "application/zip");
      c.header("content-length", String(size));
      c.header("content-disposition", `attachment; filename="${id}.zip"`);
      return c.body(Readable.toWeb(stream) as ReadableStream<Uint8Array>);
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/export/branch",
      heavy,
      role: "operator",
      tag,
      summary: "Export the changes as a branch",
      description:
        "Commits to the source repository on the server's machine. Touches only the branch. Admins only if a hidden file changed.",
      body: branchInput,
      answer: branchExport,
    },
    async ({ caller, params: { id }, body: { branch, message }, limits }) => {
      await requireOpenChanges(deps, { caller, record: await findSession(deps, caller.project, id), limits });
      const made = await files.exportBranch(id, {
        ...(branch !== undefined && { branch }),
        ...(message !== undefined && { message }),
      });
      return { ...made, skipped: [...made.skipped] };
    },
  );
}

/** Creates a file in a temporary directory and opens it. The name is removed first, so nothing is left behind. */
async function madeAside(make: (file: string) => Promise<void>): Promise<{ size: number; stream: ReadStream }> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-zip-"));
  try {
    const file = join(directory, "files.zip");
    await make(file);
    const handle = await open(file);
    return { size: (await handle.stat()).size, stream: handle.createReadStream() };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
