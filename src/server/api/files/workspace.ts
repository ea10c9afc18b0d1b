import { z } from "zod";
import { isKeptFrom } from "../../../core/environment/sandbox.ts";
import type { SessionRecord } from "../../../core/ports/store.ts";
import { fileList, fileQuery } from "../../../protocol/api/files.ts";
import { findSession } from "../../http/lookup.ts";
import type { ApiDeps } from "../deps.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { hidingPlan } from "./hidden-files.ts";
import { listFiles, type LookedAt, readWorkspaceFile } from "./workspace-files.ts";

const tag = "Workspace";

/** The current files of a session's workspace. */
export function addWorkspace(api: Api, deps: ApiDeps): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/files",
      role: "viewer",
      tag,
      summary: "List files",
      description: "Lists one directory of the workspace, sorted by name.",
      query: fileQuery,
      answer: fileList,
    },
    async ({ caller, params: { id }, query: { path } }) =>
      listFiles(await lookedAt(deps, await findSession(deps, caller.project, id)), path),
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/files/content",
      role: "viewer",
      tag,
      summary: "Read a file",
      description: "Returns the exact bytes, up to 10 MiB. Links out of the workspace are not followed.",
      query: z.strictObject({ path: fileQuery.shape.path.unwrap() }),
      answer: "application/octet-stream",
    },
    async ({ c, caller, params: { id }, query: { path } }) => {
      const bytes = await readWorkspaceFile(await lookedAt(deps, await findSession(deps, caller.project, id)), path);
      c.header("content-type", "application/octet-stream");
      // A browser must not render an agent's file as a page of this server.
      c.header("content-disposition", "attachment");
      c.header("x-content-type-options", "nosniff");
      return c.body(new Uint8Array(bytes));
    },
  );
}

async function lookedAt(deps: ApiDeps, record: SessionRecord): Promise<LookedAt> {
  const plan = await hidingPlan(deps, record);
  return { root: record.cwd, isHidden: (path) => isKeptFrom(path, plan) };
}
