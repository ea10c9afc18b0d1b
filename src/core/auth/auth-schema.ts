import { z } from "zod";
import { AUTH_PROVIDERS } from "./auth-provider.ts";

export { AUTH_PROVIDERS, type AuthProvider } from "./auth-provider.ts";

export const authProvider = z.enum(AUTH_PROVIDERS);

const fields = z.strictObject({
  provider: authProvider.optional(),
  /** Where requests of `provider` go. Takes precedence over its variable. */
  base_url: z.string().min(1).optional(),
  /**
   * A line for `sh -c` that prints the secret of `provider`. Used after its variables, and before what `auth login`
   * saved.
   */
  credential_command: z.string().trim().min(1).optional(),
});

/** `auth` in the user's settings. */
export const authSettings = fields.superRefine(({ provider, ...rest }, context) => {
  for (const [field, given] of Object.entries(rest))
    if (provider === undefined && given !== undefined)
      context.addIssue({ code: "custom", path: [field], message: "also set provider, to say which one it is for" });
  if (provider === "vertex" && rest.credential_command !== undefined)
    context.addIssue({
      code: "custom",
      path: ["credential_command"],
      message: "vertex needs no secret: its credentials are files, which can name a command themselves",
    });
});

const ONLY_A_PROVIDER =
  "only allowed in the user's own settings file; a project may name a provider, but must not choose where your credential is sent or how it is obtained";

/** `auth` in a project's settings, which others may have written. */
export const projectAuthSettings = fields.extend({
  base_url: fields.shape.base_url.refine((given) => given === undefined, ONLY_A_PROVIDER),
  credential_command: fields.shape.credential_command.refine((given) => given === undefined, ONLY_A_PROVIDER),
});

export type AuthSettings = z.infer<typeof authSettings>;

/**
 * `above` takes precedence. Address and command belong to their provider: if `above` names another one, they are
 * dropped.
 */
export function mergeAuth(below: AuthSettings, above: AuthSettings = {}): AuthSettings {
  if (above.provider === undefined) return below;
  return above.provider === below.provider ? { ...below, ...above } : above;
}
