import { z } from "zod";

/** A file of a project that lets agents do more than they could without it. */
export const trustEntry = z.object({
  kind: z.enum(["settings", "variables", "agent", "suite"]),
  path: z.string(),
  hash: z.string().describe("Of this exact content. Another content has another one."),
  trusted: z.boolean().describe("Whether it has its full effect."),
  widens: z
    .array(
      z.object({
        field: z.string(),
        text: z.string().describe("The value and what it does, in words. Never a secret."),
        required: z.boolean().describe("No session starts before the file is trusted."),
      }),
    )
    .describe("What has no effect until the file is trusted."),
  diff: z.string().nullable().describe("What changed since it was last trusted, as a patch; null when it never was."),
  trusted_hash: z
    .string()
    .nullable()
    .describe(
      "Of the content that was last trusted, the same or another; null when none was. To revoke, name this one.",
    ),
  missing: z
    .boolean()
    .describe("The file is gone. What it restricted when it was trusted applies until you revoke it."),
  trusted_at: z.string().nullable(),
  trusted_by: z.string().nullable(),
});
export type WireTrust = z.infer<typeof trustEntry>;

export const trustInput = z.strictObject({
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "a hash, as the list has it")
    .describe("The content that you looked at."),
});
export type TrustInput = z.infer<typeof trustInput>;

export const trustRevoked = z.object({ hash: z.string(), revoked: z.literal(true) });
