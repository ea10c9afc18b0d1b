import { z } from "zod";
import { AUTH_PROVIDERS } from "../../core/auth/auth-schema.ts";
import { ROLES } from "../../core/ports/registry.ts";

/** Information about the caller, the host and its log. */

export const whoami = z.object({
  id: z.string().describe("The key's id, or `browser`."),
  name: z.string(),
  role: z.enum(ROLES),
  project: z.string(),
});
export type WireCaller = z.infer<typeof whoami>;

export const project = z.object({
  id: z.string(),
  directory: z.string().nullable().describe("Where sessions work by default."),
});
export type WireProject = z.infer<typeof project>;

export const model = z.object({
  id: z.string(),
  display_name: z.string().optional(),
  created_at: z.string().optional(),
});
export type WireModel = z.infer<typeof model>;

export const credential = z.object({
  provider: z.enum(AUTH_PROVIDERS),
  name: z.string().describe("The display name."),
  present: z.boolean().describe("Nothing required is missing. Only the provider knows whether it is valid."),
  source: z.string().nullable().describe("Where the required parts were found; null if they were not."),
  active: z.boolean().optional().describe("Whether sessions use it if their agent names no provider."),
  problem: z.string().optional().describe("What is wrong or missing, and what to do."),
});
export type WireCredential = z.infer<typeof credential>;

export const auditQuery = z.strictObject({
  session_id: z.string().optional().describe("Only this session. Default: all sessions of the project."),
});

export const auditReport = z.object({
  sound: z.boolean(),
  key_id: z.string().nullable(),
  seals: z.number(),
  sessions: z.array(
    z.object({
      session_id: z.string(),
      status: z.enum(["ok", "altered", "truncated", "missing"]),
      events: z.number(),
      unsigned: z.number(),
      erased: z.boolean(),
    }),
  ),
  findings: z.array(
    z.object({
      kind: z.enum(["altered", "truncated", "missing", "register", "rolled_back", "key", "ledger"]),
      session_id: z.string().optional(),
      seq: z.number().optional(),
      problem: z.string(),
      remedy: z.string(),
    }),
  ),
  notes: z.array(z.string()),
});
export type WireAuditReport = z.infer<typeof auditReport>;
