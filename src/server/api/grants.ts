import type { Grant } from "../../core/approval.ts";
import { listOf } from "../../protocol/api/common.ts";
import { grantToWire, revoked } from "../../protocol/api/grants.ts";
import { approvalIfAny, notFound } from "../lookup.ts";
import { grant } from "./components.ts";
import type { ApiDeps } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";

const tag = "Grants";

export function addGrants(api: Api, deps: ApiDeps): void {
  const { runtime } = deps;

  endpoint(
    api,
    {
      method: "get",
      path: "/api/grants",
      role: "viewer",
      tag,
      summary: "List remembered answers",
      description: "Oldest first: those that were given in this project.",
      answer: listOf(grant),
    },
    async ({ caller }) => ({ data: (await grantsOf(deps, caller.project)).map(grantToWire) }),
  );

  endpoint(
    api,
    {
      method: "delete",
      path: "/api/grants/{id}",
      role: "admin",
      tag,
      summary: "Revoke a remembered answer",
      description: "What it allowed is asked about again.",
      answer: revoked,
    },
    async ({ caller, params: { id } }) => {
      if (!(await grantsOf(deps, caller.project)).some((one) => one.id === id)) throw notFound("grant", id);
      await runtime.grants.revoke(id);
      return { id, revoked: true as const };
    },
  );
}

/** A grant belongs to the project in which it was given, wherever it holds. */
async function grantsOf({ runtime }: ApiDeps, project: string): Promise<readonly Grant[]> {
  const projectOf = async ({ scope, project: its, sessionId, approvalId }: Grant): Promise<string | undefined> => {
    if (scope === "project") return its ?? undefined;
    if (sessionId !== null) return (await runtime.session(sessionId))?.project;
    return (await approvalIfAny({ runtime }, approvalId))?.project;
  };
  const all = await runtime.grants.list();
  const owners = await Promise.all(all.map(projectOf));
  return all.filter((_, index) => owners[index] === project);
}
