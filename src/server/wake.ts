import type { Context } from "hono";
import { ROLES } from "../core/registry.ts";
import type { SessionRecord } from "../core/store.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Env } from "./context.ts";

/**
 * Whoever attaches is likely to say something soon. A session that another process drives stays there, and one that
 * nobody may go on with is only looked at.
 */
export function wake(runtime: Runtime, c: Context<Env>, record: SessionRecord): void {
  const mayGoOn = ROLES.indexOf(c.get("caller").role) >= ROLES.indexOf("operator");
  if (record.archivedAt !== null || !mayGoOn || c.req.method === "HEAD") return;
  runtime.attend(record.id).then(
    (session) => session.warm(),
    () => {},
  );
}
