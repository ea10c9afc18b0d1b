import { expect, test } from "vitest";
import { isSecretName } from "../../src/core/environment/secret-files.ts";

test.each([
  ".env",
  ".ENV",
  "/ws/deep/.env",
  ".env.local",
  ".env.production",
  ".env.example.local",
  ".envrc",
  ".netrc",
  ".pgpass",
  "id_rsa",
  "id_ed25519_work",
  "tls/server.key",
  "tls/privkey.pem",
  "private.pem",
  "store.p12",
  "release.jks",
  "credentials.json",
  "service-account-prod.json",
])("%s may hold a secret", (path) => expect(isSecretName(path)).toBe(true));

test.each([
  ".env.example",
  ".env.local.example",
  ".env.sample",
  ".env.template",
  ".env.dist",
  "id_rsa.pub",
  "env.ts",
  ".environment",
  ".env/notes.md",
  "cacert.pem",
  ".npmrc",
  "keyboard.ts",
  "package.json",
])("%s is an ordinary file", (path) => expect(isSecretName(path)).toBe(false));
