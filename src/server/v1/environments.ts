import { Hono } from "hono";
import type { EnvironmentRecord } from "../../core/ports/registry.ts";
import {
  changedEnvironment,
  cloudConfigOf,
  type ConfigParams,
  configFrom,
  environmentCreate,
  environmentList,
  environmentUpdate,
  environmentToWireV1,
  newEnvironment,
  requireScope,
} from "../../protocol/v1/environments.ts";
import { patchMetadata } from "../../protocol/v1/fields.ts";
import { notSupported } from "../../protocol/v1/refusal.ts";
import { readBody } from "../body/read.ts";
import { type Env, requireRole, type ServerDeps } from "../http/context.ts";
import { ApiFailure } from "../http/failure.ts";
import { findEnvironment, noEnvironment } from "../http/lookup.ts";
import { readListPage, param, readQuery, requireMetadata, requireNoQuery } from "./request.ts";

export function environmentRoutes(deps: ServerDeps): Hono<Env> {
  const { registry, ids, clock } = deps;
  const { environments } = registry;
  const routes = new Hono<Env>();

  routes.post("/environments", async (c) => {
    const { project } = requireRole(c, "admin");
    const body = await readBody(c, environmentCreate);
    const { name, description = null, metadata = {} } = body;
    requireMetadata(metadata, metadata);
    requireScope(body.scope);
    const config = configFrom(body.config);
    const now = clock.now();
    const record: EnvironmentRecord = {
      id: ids.next("env"),
      project,
      name,
      description,
      metadata,
      definition: newEnvironment(config),
      directory: null,
      config: { ...config },
      createdAt: now,
      updatedAt: now,
      archivedAt: null,
    };
    await environments.create(record);
    return c.json(environmentToWireV1(record));
  });

  routes.get("/environments", async (c) => {
    const { project } = requireRole(c, "viewer");
    const query = readQuery(c, environmentList);
    const { items, next_page } = await readListPage("environments", query, {
      read: (page) => environments.list(project, { ...page, includeArchived: query.include_archived }),
      at: ({ id }) => id,
    });
    return c.json({ data: items.map(environmentToWireV1), next_page });
  });

  routes.get("/environments/:environment", async (c) => {
    const { project } = requireRole(c, "viewer");
    requireNoQuery(c);
    return c.json(environmentToWireV1(await findEnvironment(deps, project, param(c, "environment"))));
  });

  routes.post("/environments/:environment", async (c) => {
    const { project } = requireRole(c, "admin");
    const body = await readBody(c, environmentUpdate);
    const stored = await findEnvironment(deps, project, param(c, "environment"));
    if (stored.archivedAt !== null) throw archivedEnvironment(stored.id, "changed");
    requireScope(body.scope);
    const metadata = patchMetadata(stored.metadata, body.metadata ?? {}, (value) => value === null || value === "");
    requireMetadata(body.metadata ?? {}, metadata);
    const next: EnvironmentRecord = {
      ...stored,
      name: body.name ?? stored.name,
      description: body.description === undefined ? stored.description : body.description,
      metadata,
      ...applyConfig(stored, body.config),
      updatedAt: clock.now(),
    };
    await put(deps, next);
    return c.json(environmentToWireV1(next));
  });

  routes.post("/environments/:environment/archive", async (c) => {
    const { project } = requireRole(c, "admin");
    requireNoQuery(c);
    const stored = await findEnvironment(deps, project, param(c, "environment"));
    const now = clock.now();
    const next = stored.archivedAt === null ? { ...stored, archivedAt: now, updatedAt: now } : stored;
    if (next !== stored) await put(deps, next);
    return c.json(environmentToWireV1(next));
  });

  routes.delete("/environments/:environment", async (c) => {
    const { project } = requireRole(c, "admin");
    requireNoQuery(c);
    const id = param(c, "environment");
    if (!(await environments.delete(project, id))) throw noEnvironment(id);
    return c.json({ type: "environment_deleted", id });
  });

  // Workers would fetch their work here. This server runs it itself.
  for (const path of ["/environments/:environment/work", "/environments/:environment/work/*"])
    routes.all(path, async (c) => {
      const { project } = requireRole(c, "viewer");
      await findEnvironment(deps, project, param(c, "environment"));
      throw notSupported(
        "environments.work",
        "Start sessions in the environment: the server runs them itself and needs no worker.",
      );
    });

  return routes;
}

export function archivedEnvironment(id: string, what: string): ApiFailure {
  return new ApiFailure(
    "invalid_request_error",
    `The environment ${id} is archived and cannot be ${what}. Create a new one.`,
    { details: { error_code: "environment_archived" } },
  );
}

function applyConfig(
  stored: EnvironmentRecord,
  given: ConfigParams | null | undefined,
): Pick<EnvironmentRecord, "config" | "definition"> {
  const { config: before, definition } = stored;
  if (given == null) return { config: before, definition };
  const cloud = cloudConfigOf(stored);
  if (given.type !== (cloud === undefined ? "self_hosted" : "cloud"))
    throw new ApiFailure(
      "invalid_request_error",
      `config.type: the environment ${stored.id} is not of type ${given.type}, and the type cannot change. Create a new one.`,
      { details: { error_code: "invalid_config_type_change" } },
    );
  if (cloud === undefined) return { config: before, definition };
  const config = configFrom(given, cloud);
  return { config: { ...config }, definition: changedEnvironment(definition, config) };
}

async function put({ registry }: ServerDeps, next: EnvironmentRecord): Promise<void> {
  // It may have been deleted meanwhile.
  if (!(await registry.environments.update(next))) throw noEnvironment(next.id);
}
