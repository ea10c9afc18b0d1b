import type { Approval, Grant } from "../../../core/session/approval.ts";
import { CapstanError } from "../../../core/errors.ts";
import { dataList } from "../../../protocol/api/common.ts";
import { grantToWire, revoked } from "../../../protocol/api/grants.ts";
import { type Caller, hasRole } from "../../http/context.ts";
import { approvalIfAny, notFound } from "../../http/lookup.ts";
import { grantComponent } from "../document/components.ts";
import type { ApiDeps } from "../deps.ts";
import { type Api, endpoint } from "../endpoint.ts";

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
      description: "Oldest first: the answers that were given in this project.",
      answer: dataList(grantComponent),
    },
    async ({ caller }) => ({
      data: (await grantsOf(deps, caller.project)).map((one) => grantToWire(one.grant, mayRevoke(caller, one))),
    }),
  );

  endpoint(
    api,
    {
      method: "delete",
      path: "/api/grants/{id}",
      role: "operator",
      tag,
      summary: "Revoke a remembered answer",
      description:
        "Calls that it allowed need approval again. Below admin, only answers that were given with the same key can be revoked.",
      answer: revoked,
    },
    async ({ caller, params: { id } }) => {
      const found = (await grantsOf(deps, caller.project)).find(({ grant }) => grant.id === id);
      if (found === undefined) throw notFound("grant", id);
      if (!mayRevoke(caller, found))
        throw new CapstanError(
          "not_allowed",
          `The grant ${id} was given by ${found.grant.by}, and this key has the role ${caller.role}. Revoke it with that key or with an admin key.`,
          { data: { role: caller.role, wanted: "admin" } },
        );
      await runtime.grants.revoke(id);
      return { id, revoked: true as const };
    },
  );
}

/** A grant, and the approval that it answered, if that still exists. */
interface Given {
  readonly grant: Grant;
  readonly approval: Approval | undefined;
}

function mayRevoke(caller: Caller, { approval }: Given): boolean {
  return hasRole(caller, "admin") || (hasRole(caller, "operator") && approval?.answer?.key === caller.id);
}

/** A grant belongs to the project in which it was given, whatever its scope. */
async function grantsOf({ runtime }: ApiDeps, project: string): Promise<readonly Given[]> {
  const projectOf = async ({ grant, approval }: Given): Promise<string | undefined> => {
    if (grant.scope === "project") return grant.project ?? undefined;
    if (grant.sessionId !== null) return (await runtime.session(grant.sessionId))?.project;
    return approval?.project;
  };
  const all = await Promise.all(
    (await runtime.grants.list()).map(async (grant): Promise<Given> => ({
      grant,
      approval: await approvalIfAny({ runtime }, grant.approvalId),
    })),
  );
  const owners = await Promise.all(all.map(projectOf));
  return all.filter((_, index) => owners[index] === project);
}
