import type { Approval } from "../../core/approval.ts";
import { CapstanError } from "../../core/errors.ts";
import type { SessionRecord } from "../../core/store.ts";
import type { Caller } from "../context.ts";
import type { ApiDeps } from "./deps.ts";

/** What is another project's is not there: whoever asks cannot tell the two apart. */

export async function ownSession(
  { runtime }: Pick<ApiDeps, "runtime">,
  caller: Caller,
  id: string,
): Promise<SessionRecord> {
  const record = await runtime.session(id);
  if (record === undefined || record.project !== caller.project) throw nothing("session", id);
  return record;
}

export async function ownApproval(
  { runtime }: Pick<ApiDeps, "runtime">,
  caller: Caller,
  id: string,
): Promise<Approval> {
  const approval = await runtime.approvals.get(id).catch((thrown: unknown) => {
    if (thrown instanceof CapstanError && thrown.code === "not_found") return undefined;
    throw thrown;
  });
  if (approval === undefined || approval.project !== caller.project) throw nothing("approval", id);
  return approval;
}

export function nothing(what: string, id: string): CapstanError {
  return new CapstanError("not_found", `There is no ${what} ${id} in this project. List them to find its id.`);
}
