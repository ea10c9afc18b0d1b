import { listOf } from "../../protocol/api/common.ts";
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
import { type ApiDeps, offered } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";
import { projectDirectory } from "./places.ts";

export function addHost(api: Api, deps: ApiDeps): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/api/whoami",
      role: "viewer",
      tag: "Projects",
      summary: "Who the caller is",
      description: "The name, role and project of the key or login that the request came with.",
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
      description: "A key belongs to one project, and sees that one.",
      answer: listOf(project),
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
        "Those that the model API behind this server offers, asked for now. Without a credential to ask with: those that Capstan knows, as in `/v1/models`.",
      answer: listOf(model),
    },
    async () => {
      const models = await offered(deps.models, "a list of models")().catch((thrown: unknown) => {
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
        "Every way to a model, and what this server has of what it needs. No secret is shown, nor a part of one; nobody is asked whether it is valid.",
      answer: listOf(credential),
    },
    async () => ({ data: [...(await offered(deps.credentials, "a list of credentials")())] }),
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
        "Walks the signed register and the hash chains of this project's sessions. A session that is missing from the store belongs to no project any more, and is told to all.",
      query: auditQuery,
      answer: auditReport,
    },
    async ({ caller: { project: its }, asking, query: { session_id: session } }) => {
      if (session !== undefined) await findSession(deps, its, session);
      const { sound, key_id, seals, sessions, findings, notes } = await offered(deps.audit, "audits").verify(
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
