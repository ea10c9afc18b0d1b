import { z } from "zod";

/** A project file that lets agents do more than they could without it. */
export const trustEntry = z.object({
  kind: z.enum(["settings", "variables", "agent", "suite"]),
  path: z.string(),
  hash: z.string().describe("The hash of this exact content."),
  trusted: z.boolean().describe("Whether it has its full effect."),
  widens: z
    .array(
      z.object({
        field: z.string(),
        text: z.string().describe("The value and its effect, in words. Never a secret."),
        required: z.boolean().describe("No session starts until the file is trusted."),
      }),
    )
    .describe("What has no effect until the file is trusted."),
  diff: z.string().nullable().describe("The changes since it was last trusted, as a patch; null if it never was."),
  trusted_hash: z
    .string()
    .nullable()
    .describe(
      "The hash of the content that was last trusted, whether the same or not; null if none was. Use it to revoke trust.",
    ),
  missing: z
    .boolean()
    .describe("The file no longer exists. Its restrictions from when it was trusted apply until you revoke trust."),
  trusted_at: z.string().nullable(),
  trusted_by: z.string().nullable(),
});
export type WireTrust = z.infer<typeof trustEntry>;

export const trustInput = z.strictObject({
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "a hash from the list")
    .describe("The hash of the content that you reviewed."),
});
export type TrustInput = z.infer<typeof trustInput>;

export const trustRevoked = z.object({ hash: z.string(), revoked: z.literal(true) });
