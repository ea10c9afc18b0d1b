import { CapstanError } from "../../core/errors.ts";
import { dataList } from "../../protocol/api/common.ts";
import { trustEntry, trustInput, trustRevoked } from "../../protocol/api/trust.ts";
import { notFound } from "../http/lookup.ts";
import { type ApiDeps, requirePort } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";

const tag = "Trust";
const WHAT = "trust in a project's files";

/**
 * Others, including agents, can write a project's settings and variables, so anything they widen needs an admin's
 * trust.
 */
export function addTrust(api: Api, deps: ApiDeps): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/api/trust",
      role: "operator",
      tag,
      summary: "List trustable files",
      description:
        "The project's current settings and `.env`: whether a person has trusted exactly this content, what it widens, and what changed since it was last trusted.",
      answer: dataList(trustEntry),
    },
    async ({ caller }) => ({ data: [...(await requirePort(deps.trust, WHAT).list(caller.project))] }),
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/trust",
      role: "admin",
      tag,
      summary: "Trust a file",
      description:
        "Trusts only the content with this hash. If the file has changed since you read it, nothing is trusted. Sessions that start later get what the file widens.",
      body: trustInput,
      answer: trustEntry,
    },
    async ({ caller, body: { hash } }) => {
      const trusted = await requirePort(deps.trust, WHAT).add(caller.project, hash, caller.name);
      if (trusted !== undefined) return trusted;
      throw new CapstanError(
        "store_conflict",
        "No file of the project has this content now, so nothing was trusted. List the files again.",
        { data: { hash } },
      );
    },
  );

  endpoint(
    api,
    {
      method: "delete",
      path: "/api/trust/{hash}",
      role: "admin",
      tag,
      summary: "Revoke trust in a file",
      description: "In sessions that start later, what the file widens has no effect.",
      answer: trustRevoked,
    },
    async ({ caller, params: { hash } }) => {
      if (!(await requirePort(deps.trust, WHAT).remove(caller.project, hash))) throw notFound("trusted file", hash);
      return { hash, revoked: true as const };
    },
  );
}
