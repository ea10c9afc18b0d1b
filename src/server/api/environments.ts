import { isDeepStrictEqual } from "node:util";
import type { EnvironmentRecord } from "../../core/ports/registry.ts";
import { dataList } from "../../protocol/api/common.ts";
import { environmentToWire, pageQuery, type WireEnvironment } from "../../protocol/api/registry.ts";
import { findEnvironment, noEnvironment } from "../http/lookup.ts";
import { environmentComponent, environmentInputComponent } from "./document/components.ts";
import type { ApiDeps } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";
import { existingDirectory } from "./session-directory.ts";
import { environmentWithSecrets, withoutEnvironmentSecrets } from "./secrets.ts";

const tag = "Environments";

/**
 * The same records as the environments of `/v1`, with everything a settings file can contain and a directory of the
 * host.
 */
export function addEnvironments(api: Api, deps: ApiDeps): void {
  const { environments } = deps.registry;

  endpoint(
    api,
    {
      method: "post",
      path: "/api/environments",
      role: "admin",
      tag,
      summary: "Create an environment",
      description: "Its directory must be an existing absolute path on the server's machine.",
      body: environmentInputComponent,
      answer: environmentComponent,
      status: 201,
    },
    async ({ caller, body }) => {
      const { name, description = null, metadata = {}, definition, directory = null } = body;
      if (directory !== null) await existingDirectory(directory, "directory");
      const now = deps.clock.now();
      const record: EnvironmentRecord = {
        id: deps.ids.next("env"),
        project: caller.project,
        name,
        description,
        metadata,
        definition: environmentWithSecrets(definition),
        directory,
        config: {},
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
      };
      await environments.create(record);
      return safeEnvironmentToWire(record);
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/environments",
      role: "viewer",
      tag,
      summary: "List environments",
      description: "Newest first.",
      query: pageQuery,
      answer: dataList(environmentComponent),
    },
    async ({ caller, query: { limit, after, include_archived: includeArchived = false } }) => ({
      data: (
        await environments.list(caller.project, { limit, includeArchived, ...(after !== undefined && { after }) })
      ).map(safeEnvironmentToWire),
    }),
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/environments/{id}",
      role: "viewer",
      tag,
      summary: "Get an environment",
      answer: environmentComponent,
    },
    async ({ caller, params: { id } }) => safeEnvironmentToWire(await findEnvironment(deps, caller.project, id)),
  );

  endpoint(
    api,
    {
      method: "put",
      path: "/api/environments/{id}",
      role: "admin",
      tag,
      summary: "Replace an environment",
      description: "Sessions that have started keep their environment.",
      body: environmentInputComponent,
      answer: environmentComponent,
    },
    async ({ caller, params: { id }, body }) => {
      const before = await findEnvironment(deps, caller.project, id);
      const { name, description = null, metadata = {}, definition, directory = null } = body;
      if (directory !== null) await existingDirectory(directory, "directory");
      const record: EnvironmentRecord = {
        ...before,
        name,
        description,
        metadata,
        definition: environmentWithSecrets(definition, before.definition),
        directory,
        // The configuration from the other API may no longer apply.
        config: isDeepStrictEqual(definition, withoutEnvironmentSecrets(before.definition)) ? before.config : {},
        updatedAt: deps.clock.now(),
      };
      if (!(await environments.update(record))) throw noEnvironment(id);
      return safeEnvironmentToWire(record);
    },
  );
}

function safeEnvironmentToWire(record: EnvironmentRecord): WireEnvironment {
  return environmentToWire({ ...record, definition: withoutEnvironmentSecrets(record.definition) });
}
