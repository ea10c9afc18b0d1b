import { dataList } from "../../protocol/api/common.ts";
import {
  auditQuery,
  auditReport,
  credential,
  model,
  project,
  whoami,
  type WireModel,
} from "../../protocol/api/host.ts";
import { CapstanError } from "../../core/errors.ts";
import { modelList, modelPage } from "../../protocol/v1/models.ts";
import { findSession } from "../http/lookup.ts";
import { type ApiDeps, requirePort } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";
import { projectDirectory } from "./session-directory.ts";

export function addHost(api: Api, deps: ApiDeps): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/api/whoami",
      role: "viewer",
      tag: "Projects",
      summary: "Get the caller",
      description: "Returns the name, role and project of the key or login used for the request.",
      answer: whoami,
    },
    async ({ caller: { id, name, role, project: its } }) => ({ id, name, role, project: its }),
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/projects",
      role: "viewer",
      tag: "Projects",
      summary: "List projects",
      description: "A key belongs to one project and sees only that one.",
      answer: dataList(project),
    },
    async ({ caller }) => ({
      data: [{ id: caller.project, directory: (await projectDirectory(deps, caller.project)) ?? null }],
    }),
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/models",
      role: "viewer",
      tag: "Models",
      summary: "List models",
      description:
        "Asks the model API behind this server for its models. Without a credential, returns the models that Capstan knows, as in `/v1/models`.",
      answer: dataList(model),
    },
    async () => {
      const models = await requirePort(deps.models, "listing models")().catch((thrown: unknown) => {
        if (thrown instanceof CapstanError && thrown.code === "credential_missing") return knownModels();
        throw thrown;
      });
      return { data: [...models] };
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/credentials",
      role: "operator",
      tag: "Models",
      summary: "List credentials",
      description:
        "Lists every credential source, and which of its parts this server has. Shows no part of a secret, and does not check whether credentials are valid.",
      answer: dataList(credential),
    },
    async () => ({ data: [...(await requirePort(deps.credentials, "listing credentials")())] }),
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/audit/verify",
      role: "viewer",
      tag: "Audit",
      summary: "Verify the audit log",
      description:
        "Checks the signed register and the hash chains of this project's sessions. A session that is missing from the store no longer belongs to a project, so every caller sees it.",
      query: auditQuery,
      answer: auditReport,
    },
    async ({ caller: { project: its }, asking, query: { session_id: session } }) => {
      if (session !== undefined) await findSession(deps, its, session);
      const { sound, key_id, seals, sessions, findings, notes } = await requirePort(deps.audit, "audits").verify(
        { project: its, session },
        asking,
      );
      return { sound, key_id, seals, sessions: [...sessions], findings: [...findings], notes: [...notes] };
    },
  );
}

function knownModels(): readonly WireModel[] {
  const { data } = modelPage(modelList.parse({ limit: "1000" }));
  return data.map(({ id, display_name, created_at }) => ({ id, display_name, created_at }));
}
