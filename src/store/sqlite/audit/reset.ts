import type { AuditKey } from "../../../core/session/audit.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import { openRegister } from "./audit-register.ts";
import { Database } from "../file/database.ts";

/** Adds a seal to a store that need not be open: a backup was restored, or its state was accepted. */
export function recordReset(
  { path, clock, key }: { readonly path: string; readonly clock: Clock; readonly key: AuditKey },
  { kind, reason }: { readonly kind: "restored" | "accepted"; readonly reason: string },
): void {
  using database = new Database({ path });
  openRegister(database, { clock, key }).reset(kind, reason);
}
