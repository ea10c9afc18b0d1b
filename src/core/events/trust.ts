import { z } from "zod";
import { stored } from "./fields.ts";

/** Facts about what a person has trusted of a project's files. Names and hashes only, never contents. */

/** One file of which something has no effect. */
const withheldFile = z.object({
  path: z.string(),
  /** Nobody has trusted this content, or the user's own settings are stricter. */
  reason: z.enum(["untrusted", "user settings"]),
  /** Of the content, as `capstan trust` and `/api/trust` have it; absent when trust would change nothing. */
  hash: z.string().optional(),
  /** Such as `permissions.mode`; not all of them when `fields_count` is larger. */
  fields: z.array(z.string()),
  fields_count: z.number().int(),
});
/** The session was started without some of what a project's files say. */
export const settingsWithheld = z.object({
  type: z.literal("capstan.settings_withheld"),
  ...stored,
  files: z.array(withheldFile),
  /** What a person can do about it. */
  next_step: z.string(),
});
/** What the agent's hooks, functions and MCP servers ran when the session was started. Other content is not run. */
export const programsPinned = z.object({
  type: z.literal("capstan.programs_pinned"),
  ...stored,
  /** Relative to where the session works, or absolute; SHA-256 in hex. */
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
});
