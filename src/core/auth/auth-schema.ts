import { z } from "zod";
import { AUTH_PROVIDERS } from "./auth-provider.ts";

export { AUTH_PROVIDERS, type AuthProvider } from "./auth-provider.ts";

export const authProvider = z.enum(AUTH_PROVIDERS);

const fields = z.strictObject({
  provider: authProvider.optional(),
  /** Where the requests of `provider` go. Before the variable for it. */
  base_url: z.string().min(1).optional(),
  /** A line for `sh -c` that prints the secret of `provider`. After the variables for it, before what login stored. */
  credential_command: z.string().trim().min(1).optional(),
});

/** `auth` in the user's own settings. */
export const authSettings = fields.superRefine(({ provider, ...rest }, context) => {
  for (const [field, given] of Object.entries(rest))
    if (provider === undefined && given !== undefined)
      context.addIssue({ code: "custom", path: [field], message: "name the provider that it is for beside it" });
  if (provider === "vertex" && rest.credential_command !== undefined)
    context.addIssue({
      code: "custom",
      path: ["credential_command"],
      message: "vertex takes no secret: its credentials are files, which may name a command themselves",
    });
});

const ONLY_A_PROVIDER =
  "only the user's own settings file may have it; a project may name a provider, but must not choose where your credential is sent or how it is got";

/** `auth` in the settings of a project, which others may have written. */
export const projectAuthSettings = fields.extend({
  base_url: fields.shape.base_url.refine((given) => given === undefined, ONLY_A_PROVIDER),
  credential_command: fields.shape.credential_command.refine((given) => given === undefined, ONLY_A_PROVIDER),
});

export type AuthSettings = z.infer<typeof authSettings>;

/** Who is named above wins. Address and command stay with their provider: where another one is named, they are gone. */
export function mergeAuth(below: AuthSettings, above: AuthSettings = {}): AuthSettings {
  if (above.provider === undefined) return below;
  return above.provider === below.provider ? { ...below, ...above } : above;
}
