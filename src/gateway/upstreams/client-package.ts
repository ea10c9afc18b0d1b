import { createRequire } from "node:module";
import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { CapstanError } from "../../core/errors.ts";

/** Packages that only some providers need, and that are not installed with Capstan. */
const PACKAGES = {
  bedrock: ["@anthropic-ai/bedrock-sdk"],
  vertex: ["@anthropic-ai/vertex-sdk", "google-auth-library"],
  foundry: ["@anthropic-ai/foundry-sdk"],
} as const;

type Cloud = keyof typeof PACKAGES;

/** Loads a part of it, or explains how to install it. */
export async function clientPackage<Module>(load: () => Promise<Module>, provider: Cloud): Promise<Module> {
  try {
    return await load();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw thrown;
    throw notInstalled(provider, thrown);
  }
}

/** Throws the same without loading anything. */
export function requireClient(provider: AuthProvider): void {
  if (!(provider in PACKAGES)) return;
  const { resolve } = createRequire(import.meta.url);
  for (const name of PACKAGES[provider as Cloud]) {
    try {
      resolve(name);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") throw notInstalled(provider as Cloud, thrown);
    }
  }
}

function notInstalled(provider: Cloud, cause: unknown): CapstanError {
  const packages = PACKAGES[provider];
  return new CapstanError(
    "unsupported",
    `This provider needs a client that is not installed. Run npm install ${packages.join(" ")} where Capstan is installed (with -g for a global installation).`,
    { data: { packages }, cause },
  );
}
