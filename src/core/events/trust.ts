import { z } from "zod";
import { stored } from "./fields.ts";

/** Which files of a project are trusted. Contains only names and hashes, never contents. */

/** A file with settings that have no effect. */
const withheldFile = z.object({
  path: z.string(),
  /** The content is not trusted, or the user's own settings are stricter. */
  reason: z.enum(["untrusted", "user settings"]),
  /** Hash of the content, as in `capstan trust` and `/api/trust`; absent if trust would change nothing. */
  hash: z.string().optional(),
  /** Such as `permissions.mode`; incomplete if `fields_count` is larger. */
  fields: z.array(z.string()),
  fields_count: z.number().int(),
});
/** The session was started without some settings of the project's files. */
export const settingsWithheld = z.object({
  type: z.literal("capstan.settings_withheld"),
  ...stored,
  files: z.array(withheldFile),
  /** What a person can do about it. */
  next_step: z.string(),
});
/**
 * The programs that the agent's hooks, functions and MCP servers ran when the session was started. Changed content does
 * not run.
 */
export const programsPinned = z.object({
  type: z.literal("capstan.programs_pinned"),
  ...stored,
  /** Relative to the session's directory, or absolute; SHA-256 in hex. */
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
});
