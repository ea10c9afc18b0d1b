import { Hono } from "hono";
import { fileParams, resourceList, resourceUpdate, resourceToWireV1 } from "../../protocol/v1/resources.ts";
import { notSupported } from "../../protocol/v1/refusal.ts";
import { readBody } from "../body/read.ts";
import type { SessionRecord, SessionResource } from "../../core/ports/store.ts";
import { type Env, requireRole, type ServerDeps } from "../http/context.ts";
import { findSession, notFound } from "../http/lookup.ts";
import { readListPage, param, readQuery, requireNoQuery } from "./request.ts";
import { givenFile } from "./session-create.ts";

/** Files and repositories in a session's workspace. */
export function resourceRoutes(deps: ServerDeps): Hono<Env> {
  const routes = new Hono<Env>();

  routes.get("/sessions/:session/resources", async (c) => {
    const { project } = requireRole(c, "viewer");
    const query = readQuery(c, resourceList);
    const { id, resources } = await findSession(deps, project, param(c, "session"));
    const { items, next_page } = await readListPage(`resources of ${id}`, query, {
      read: async ({ limit, after }) => {
        const start = after === undefined ? 0 : resources.findIndex((resource) => resource.id === after) + 1;
        return resources.slice(start, start + limit);
      },
      at: (resource) => resource.id,
    });
    return c.json({ data: items.map(resourceToWireV1), next_page });
  });

  routes.post("/sessions/:session/resources", async (c) => {
    const { project } = requireRole(c, "operator");
    const body = await readBody(c, fileParams);
    const { id } = await findSession(deps, project, param(c, "session"));
    const file = await givenFile(deps, project, body);
    return c.json(resourceToWireV1(await deps.runtime.addFile(id, file)));
  });

  routes.get("/sessions/:session/resources/:resource", async (c) => {
    const { project } = requireRole(c, "viewer");
    requireNoQuery(c);
    const record = await findSession(deps, project, param(c, "session"));
    return c.json(resourceToWireV1(resourceOf(record, param(c, "resource"))));
  });

  routes.post("/sessions/:session/resources/:resource", async (c) => {
    const { project } = requireRole(c, "operator");
    await readBody(c, resourceUpdate);
    const record = await findSession(deps, project, param(c, "session"));
    resourceOf(record, param(c, "resource"));
    throw notSupported(
      "replacing a repository's token",
      "The token is used only for cloning and is not saved. Start a new session to clone again.",
    );
  });

  routes.delete("/sessions/:session/resources/:resource", async (c) => {
    const { project } = requireRole(c, "operator");
    const record = await findSession(deps, project, param(c, "session"));
    resourceOf(record, param(c, "resource"));
    throw notSupported("removing a resource", "It is part of the workspace now. Ask the agent to delete the file.");
  });

  return routes;
}

function resourceOf({ resources }: SessionRecord, id: string): SessionResource {
  const found = resources.find((resource) => resource.id === id);
  if (found === undefined) throw notFound("resource", id);
  return found;
}
