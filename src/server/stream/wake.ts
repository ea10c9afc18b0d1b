import type { Context } from "hono";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { type Env, hasRole } from "../http/context.ts";

/**
 * Whoever attaches is likely to say something soon. A session that another process drives stays there, and one that
 * nobody may go on with is only looked at.
 */
export function wake(runtime: Runtime, c: Context<Env>, record: SessionRecord): void {
  if (record.archivedAt !== null || !hasRole(c.get("caller"), "operator") || c.req.method === "HEAD") return;
  runtime.attend(record.id).then(
    (session) => session.warm(),
    () => {},
  );
}
