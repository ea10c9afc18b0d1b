import { CapstanError } from "../../core/errors.ts";
import { listOf } from "../../protocol/api/common.ts";
import { trustEntry, trustInput, trustRevoked } from "../../protocol/api/trust.ts";
import { notFound } from "../http/lookup.ts";
import { type ApiDeps, offered } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";

const tag = "Trust";
const WHAT = "trust in a project's files";

/** A project's settings and variables are written by others, agents among them: what they widen waits for an admin. */
export function addTrust(api: Api, deps: ApiDeps): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/api/trust",
      role: "operator",
      tag,
      summary: "List files that can be trusted",
      description:
        "The project's settings and its `.env` as they are now: whether a person has trusted exactly this content, what it widens, and what changed since it was last trusted.",
      answer: listOf(trustEntry),
    },
    async ({ caller }) => ({ data: [...(await offered(deps.trust, WHAT).list(caller.project))] }),
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
        "Trusts the content with this hash, and no other: when the file has changed since you looked, nothing is trusted. Sessions that start from then on have what it widens.",
      body: trustInput,
      answer: trustEntry,
    },
    async ({ caller, body: { hash } }) => {
      const trusted = await offered(deps.trust, WHAT).add(caller.project, hash, caller.name);
      if (trusted !== undefined) return trusted;
      throw new CapstanError(
        "store_conflict",
        "No file of the project has this content any more, so nothing was trusted. Look at the list again.",
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
      description: "What the file widens has no effect on sessions that start from then on.",
      answer: trustRevoked,
    },
    async ({ caller, params: { hash } }) => {
      if (!(await offered(deps.trust, WHAT).remove(caller.project, hash))) throw notFound("trusted file", hash);
      return { hash, revoked: true as const };
    },
  );
}
