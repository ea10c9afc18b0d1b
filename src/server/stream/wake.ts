import type { Context } from "hono";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { type Env, hasRole } from "../http/context.ts";

/**
 * Warms a session when a client attaches, which usually means that a message follows. Leaves sessions alone that
 * another process drives or that cannot be continued.
 */
export function wake(runtime: Runtime, c: Context<Env>, record: SessionRecord): void {
  if (record.archivedAt !== null || !hasRole(c.get("caller"), "operator") || c.req.method === "HEAD") return;
  runtime.attend(record.id).then(
    (session) => session.warm(),
    () => {},
  );
}
